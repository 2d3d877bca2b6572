/// The bounds for pictures, as the command line gives them: `memory=512000000 input=… pixels=… milliseconds=… seconds=…`.
struct Bounds {
    /// Bytes beyond those that the program needs itself.
    var memory = 0
    /// Bytes of one picture.
    var input = 0
    /// Pixels of one picture.
    var pixels = 0
    /// Of processor time for one picture.
    var milliseconds = 0
    /// Of processor time in all.
    var seconds = 0

    init(_ words: ArraySlice<String>) throws(Wrong) {
        var rest: [String: Int] = [:]
        for word in words {
            let pair = word.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, let number = Int(pair[1]), number > 0 else { throw Wrong() }
            rest[String(pair[0])] = number
        }
        func take(_ name: String) throws(Wrong) -> Int {
            guard let number = rest.removeValue(forKey: name) else { throw Wrong() }
            return number
        }
        memory = try take("memory")
        input = try take("input")
        pixels = try take("pixels")
        milliseconds = try take("milliseconds")
        seconds = try take("seconds")
        guard rest.isEmpty else { throw Wrong() }
    }

    struct Wrong: Error, CustomStringConvertible {
        let description =
            "'gannet serve' and 'gannet thumbnail' start this program, which makes thumbnails for them. It is of no use alone."
    }
}
