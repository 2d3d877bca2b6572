internal import RedisClient

/// What a worker is told of the batch of a job it is handed.
package struct LeasedBatch: Sendable, Equatable {
    /// What its producer called it.
    package let name: String?

    /// What its requests carry; `nil` where it has none, or they are not there any more, or cannot be read.
    package let headers: RequestHeaders?
    package let trace: TraceContext?
}

extension LeasedBatch {
    /// Batches by their numbers, as a claim answers them.
    static func told(_ fields: [RedisReply]) throws(RedisError) -> [Int: LeasedBatch] {
        guard fields.count.isMultiple(of: fieldsOfBatch) else { throw RedisError(.unexpectedReply, "claim in another form than expected") }
        var batches: [Int: LeasedBatch] = [:]
        for index in stride(from: 0, to: fields.count, by: fieldsOfBatch) {
            batches[try fields[index].asInteger()] = LeasedBatch(
                name: try fields[index + 1].asOptionalBytes().map { String(decoding: $0, as: UTF8.self) },
                headers: try fields[index + 2].asOptionalBytes().flatMap { RequestHeaders($0) },
                trace: try fields[index + 3].asOptionalBytes().flatMap { try? TraceContext(String(decoding: $0, as: UTF8.self)) })
        }
        return batches
    }

    private static let fieldsOfBatch = 4
}
