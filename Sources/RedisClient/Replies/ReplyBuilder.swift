/// Puts replies together from the parser's events, which come depth first.
///
/// The parser's own reply objects would be allocated, walked and freed for every reply; with callbacks each value is made once,
/// in its final form. Nothing is reserved for an array's announced length: a hostile `*2147483647` costs nothing until its
/// elements really arrive.
struct ReplyBuilder {
    private var open: [(elements: [RedisReply], missing: Int)] = []
    private var finished: RedisReply?

    /// Elements of the reply that is being put together.
    private(set) var pendingElements = 0

    /// What a server's error text means to this connection.
    let meaning: (String) -> RedisError

    init(meaning: @escaping (String) -> RedisError = { RedisError(reply: $0) }) {
        self.meaning = meaning
    }

    /// Begins an array; false when they are nested too deeply.
    mutating func begin(arrayOf count: Int) -> Bool {
        if count <= 0 {
            add(.array([]))
            return true
        }
        guard open.count < Self.deepestNesting else { return false }
        open.append((elements: [], missing: count))
        return true
    }

    /// Newer parsers set no bound, and giving up a reply takes a call on the stack for each level.
    private static let deepestNesting = 128

    mutating func add(_ value: RedisReply) {
        var value = value
        pendingElements += 1
        while !open.isEmpty {
            let last = open.count - 1
            open[last].elements.append(value)
            open[last].missing -= 1
            if open[last].missing > 0 { return }
            value = .array(open.removeLast().elements)
        }
        finished = value
        pendingElements = 0
    }

    mutating func take() -> RedisReply? {
        defer { finished = nil }
        return finished
    }
}
