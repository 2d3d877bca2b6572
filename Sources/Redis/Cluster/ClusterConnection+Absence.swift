/// Servers that are away, for callers who do not want to wait for them.
extension ClusterConnection {
    /// How long a server of a cluster may be away before it is waited for no longer.
    private static let absencePatience = Duration.seconds(1)
    /// A busy server may be silent for a moment.
    private static let silencePatience = Duration.seconds(2)
    /// A server that has just started calls the cluster down for some seconds.
    private static let downPatience = Duration.seconds(5)
    private static let patience = [RedisError.Kind.clusterDown: downPatience, .tryAgain: silencePatience]
    private static let pause = Duration.milliseconds(50)

    /// Returns when the primary of one of the slots has been away, or the whole cluster down, for longer than people wait.
    func absence(of slots: Set<HashSlot>) async throws -> RedisError {
        let start = ContinuousClock.now
        while true {
            try await Task.sleep(for: Self.pause)
            for slot in slots {
                let (primary, failure) = standing(of: slot)
                guard let failure = failure ?? (primary == nil ? withoutOwner(slot) : nil) else { continue }
                let patience = failure.kind == .commandTimeout ? Self.silencePatience : Self.absencePatience
                if .now > start + patience { return failure }
            }
            // A cluster that is down refuses all commands, and a slot that moves those of several keys.
            if let hindrance, let patience = Self.patience[hindrance.kind], .now > start + patience { return hindrance }
        }
    }

    /// The replies to commands for slots, or the error of a server that is away.
    func withoutWaiting(
        for slots: [HashSlot], _ ask: @escaping @Sendable () async -> [Result<RedisReply, RedisError>]
    ) async -> [Result<RedisReply, RedisError>] {
        await withTaskGroup(of: [Result<RedisReply, RedisError>]?.self) { group in
            group.addTask(operation: ask)
            group.addTask {
                guard let failure = try? await self.absence(of: Set(slots)) else { return nil }
                return slots.map { _ in .failure(failure) }
            }
            defer { group.cancelAll() }
            // The absence ends without an answer only where the caller's task is cancelled.
            if let first = await group.next() ?? nil { return first }
            return await group.next().flatMap { $0 } ?? slots.map { _ in .failure(RedisError(.cancelled)) }
        }
    }
}
