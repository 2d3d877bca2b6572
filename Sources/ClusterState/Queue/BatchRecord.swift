internal import RedisClient

/// All that is kept of a batch.
package struct BatchRecord: Sendable, Equatable {
    package let name: String
    package let number: Int
    package let options: BatchOptions
    package let counts: BatchCounts

    /// When it was begun, in queue time, ms; `nil` for one that an earlier version began.
    package let began: Int?
}

extension BatchRecord {
    static let fields = [
        "id", "priority", "refresh", "maxAge", "deliver", "began", "headers", "trace", "state", "total", "done", "failed", "cancelled",
        "active", "parked", "delayed",
    ].map { RedisArgument.string($0) }

    /// `nil` for one that is not there any more.
    init?(number: Int, _ reply: RedisReply) throws(RedisError) {
        let values = try reply.asArray()
        guard values.count == Self.fields.count else { throw RedisError(.unexpectedReply, "HMGET in another form than expected") }
        var texts: [String?] = []
        for value in values { texts.append(try value.asOptionalBytes().map { String(decoding: $0, as: UTF8.self) }) }
        guard let state = texts[8].flatMap(BatchProgress.State.init) else { return nil }
        self.number = number
        name = texts[0] ?? ""
        began = texts[5].flatMap { Int($0) }
        var options = BatchOptions()
        options.priority = texts[1].flatMap { Int($0) }.flatMap(BatchOptions.Priority.init) ?? .normal
        options.refresh = texts[2] == "1"
        options.maximumAge = texts[3].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : .milliseconds($0) }
        options.deliversBodies = texts[4] == "1"
        options.headers = try values[6].asOptionalBytes().flatMap { RequestHeaders($0) } ?? .none
        options.trace = texts[7].flatMap { try? TraceContext($0) }
        self.options = options
        let numbers = texts[9...].map { $0.flatMap { Int($0) } ?? 0 }
        counts = BatchCounts(
            state: state, total: numbers[0], done: numbers[1], failed: numbers[2], cancelled: numbers[3], active: numbers[4],
            parked: numbers[5], delayed: numbers[6])
    }
}
