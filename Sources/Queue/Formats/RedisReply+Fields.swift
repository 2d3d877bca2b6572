internal import GannetRedisClient

extension RedisError {
    /// The error for an answer in another form than this version's scripts give it.
    static func form(of what: String) -> RedisError { RedisError(.unexpectedReply, "\(what) in another form than expected") }

    static let damagedCounter = form(of: "a counter")
    static let damagedClock = form(of: "the clock")

    /// The key whose clock a script could not read (`Scripts/Parts/clock.lua`).
    var damagedKey: String? {
        let mark = "DAMAGED "
        return kind == .other && detail.hasPrefix(mark) ? String(detail.dropFirst(mark.count)) : nil
    }
}

extension Keys {
    /// Names the key in the error about a counter or a clock that is no number.
    /// - Parameter queue: The queue whose counters are read; `nil` for those of the whole partition.
    func naming<Value>(_ queue: String? = nil, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as RedisError where error == .damagedClock || error == .damagedCounter {
            let isOfQueue = error == .damagedCounter ? queue : nil
            throw StateError.damaged(key: isOfQueue.map { "\(tag)q:\($0):queue" } ?? "\(tag)state")
        }
    }
}

extension RedisReply {
    /// The fields of an answer that must have exactly `count` of them.
    func fields(_ count: Int, of what: String) throws(RedisError) -> [RedisReply] {
        let fields = try asArray()
        guard fields.count == count else { throw .form(of: what) }
        return fields
    }

    func asOptionalString() throws(RedisError) -> String? { try asOptionalBytes().map { String(decoding: $0, as: UTF8.self) } }

    /// A counter's value; a missing counter is zero.
    func asCount() throws(RedisError) -> Int {
        guard let text = try asOptionalString() else { return 0 }
        guard let number = Int(inRedis: text) else { throw .damagedCounter }
        return number
    }

    /// A number of an answer, within the bounds of `Int(inRedis:)`.
    func asNumber() throws(RedisError) -> Int {
        let number = try asInteger()
        guard Int.inRedis.contains(number) else { throw .form(of: "a number") }
        return number
    }
}

extension [RedisReply] {
    /// The fields of a hash with their values, or the members of a sorted set with their scores.
    var pairs: [(name: RedisReply, value: RedisReply)] {
        stride(from: 0, to: count - 1, by: 2).map { (self[$0], self[$0 + 1]) }
    }
}

extension Int {
    /// Scripts have no other whole numbers. No sum or difference of a few of them is too large.
    fileprivate static let inRedis = -(1 << 53)...1 << 53

    /// A number that a script has written; `nil` for a larger one, and for another spelling, to which Redis cannot add.
    init?(inRedis text: some StringProtocol) {
        guard let number = Int(text), Self.inRedis.contains(number), "\(number)" == text else { return nil }
        self = number
    }
}
