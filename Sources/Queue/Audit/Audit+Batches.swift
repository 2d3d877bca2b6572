internal import GannetRedisClient

/// Batches of which a partition knows nothing, because its server lost data.
extension Audit {
    /// As many batches as a partition keeps, whose jobs have ended (`Scripts/Parts/counts.lua`).
    private static let mostKept = 1000
    /// For how long it keeps them.
    private static let keptFor = Duration.seconds(30 * 86_400)

    mutating func lookAtBatches() async throws {
        guard state.partitions.count > 1, !findings.contains(where: { $0.kind == .wrongType }) else { return }
        for name in queues.sorted() {
            let queue = state.queue(name)
            let full = try await fullPartitions(of: name)
            func isLost(_ batch: Batch) -> Bool { batch.lostParts > full && batch.age.map { $0 < Self.keptFor } ?? false }
            let suspects = try await queue.batches(limit: Self.mostKept).batches.filter(isLost)
            // They are looked at again: somebody may have purged the queue meanwhile.
            let lost = suspects.isEmpty ? [] : try await queue.batches(suspects.map(\.number)).filter(isLost)
            guard let first = lost.first else { continue }
            add(.batchPartLost, "\(first.name) of the queue \(name)", count: lost.count)
        }
    }

    /// How many partitions have so many batches that they forget old ones, which another partition may still know.
    private func fullPartitions(of queue: String) async throws -> Int {
        let commands = state.partitions.map { RedisCommand("HGET", $0.keys.queue(queue), "kept") }
        return try await state.connection.pipeline(commands).count {
            try $0.get().asOptionalString().flatMap { Int($0) } ?? 0 >= Self.mostKept
        }
    }
}
