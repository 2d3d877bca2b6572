internal import GannetBasics

/// The parts of a sample that come from its row. They are the same whichever run has fetched the body.
extension ManifestRow {
    /// The keys of a manifest's line that are about the run, and not about the body.
    private static let ofRun: Set = ["outcome", "durationMilliseconds", "file", "error"]

    /// The sample's `json`: the figures of its body, and the carried values.
    func figures(_ end: RowEnd, key: String) -> [UInt8] {
        var text: [UInt8] = []
        append([("key", .string(key))] + members(end).filter { !Self.ofRun.contains($0.key) }, to: &text)
        return text
    }

    /// The sample's `txt`: the first carried value, if it is a text, such as a caption.
    var caption: [UInt8]? {
        carried?.withUnsafeBytes { bytes in
            guard let key = Self.string(in: bytes, from: 1), key.upperBound + 1 < bytes.count,
                bytes[key.upperBound + 1] == UInt8(ascii: ":"),
                let value = Self.string(in: bytes, from: key.upperBound + 2)
            else { return nil }
            return JSONText.unescaped(UnsafeRawBufferPointer(rebasing: bytes[value])).map { Array($0) }
        }
    }

    /// The text between the quotes of a JSON string that begins at an offset.
    private static func string(in bytes: UnsafeRawBufferPointer, from start: Int) -> Range<Int>? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
        var end = start + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return end < bytes.count ? start + 1..<end : nil
    }
}
