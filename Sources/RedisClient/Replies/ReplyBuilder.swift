/// Puts replies together from the parser's events, which come depth first.
///
/// The parser's own reply objects would be allocated, walked and freed for every reply; with callbacks each value is made once,
/// in its final form. Nothing is reserved for an array's announced length: a hostile `*2147483647` costs nothing until its
/// elements really arrive.
struct ReplyBuilder {
    private var open: [(elements: [RedisReply], missing: Int)] = []
    private(set) var finished: RedisReply?

    mutating func begin(arrayOf count: Int) {
        if count == 0 { return add(.array([])) }
        open.append((elements: [], missing: count))
    }

    mutating func add(_ value: RedisReply) {
        var value = value
        while !open.isEmpty {
            let last = open.count - 1
            open[last].elements.append(value)
            open[last].missing -= 1
            if open[last].missing > 0 { return }
            value = .array(open.removeLast().elements)
        }
        finished = value
    }

    mutating func take() -> RedisReply? {
        defer { finished = nil }
        return finished
    }
}
