import RedisClient

@testable import ClusterState

#if canImport(Glibc)
extension ModelRun {
    /// One worker does all that is left, and then nothing may be.
    mutating func finish() async throws {
        story.append("one worker does the rest")
        for queue in 0..<2 { try await perform(.pause(queue: queue, false)) }
        var rounds = 0
        while try await !workOnce() {
            rounds += 1
            try Violation.require(rounds < Self.mostRounds, "after \(rounds) rounds there still is something to do: \(look.jobs)")
            try await perform(.clock(1000 + rounds * 1000))
        }
        for job in model.jobs.values {
            try Violation.require(job.fate != .open && job.fate != .tombstone, "job \(job.record.serial) has not ended")
        }
        try await checkNothingIsLeftBehind()
    }

    private static var mostRounds: Int { 200 }

    /// Claims from both queues and ends what it gets. Answers whether nothing is left.
    private mutating func workOnce() async throws -> Bool {
        var isDone = true
        for queue in 0..<2 {
            let nonce = Nonce(UInt64(story.count))
            try await perform(
                .claim(ClaimCall(queue: queue, worker: 9, limit: 50, nonce: nonce, lease: 30_000, listens: false)))
            let mine = look.flights.filter { $0.key.nonce == nonce.number && $0.value.job != nil }
            let items = mine.keys.sorted().map { token in maker.ending(token, mine[token]!) }
            if !items.isEmpty {
                try await perform(.settle(SettleCall(queue: queue, items: items, claimsAgain: true, random: 0)))
            }
            if model.jobs.values.contains(where: { $0.fate == .open && $0.record.queue == queue }) { isDone = false }
        }
        return isDone && look.flights.isEmpty && look.jobs.isEmpty
    }

    /// Two days later only what is meant to stay is there.
    private mutating func checkNothingIsLeftBehind() async throws {
        try await perform(.clock(2 * 86_400_000))
        let keys = try await bench.redis.send(RedisCommand("KEYS", "*")).asArray()
        let stays = ["state", "hosts", "rules", "count", "batches", "batch", "finished", "ended", "dead", "idle"]
        for key in keys {
            let name = try key.asString().dropFirst(ModelBench.namespace.count + 2)
            let part = name.hasPrefix("q:") ? name.split(separator: ":")[2] : name.prefix { $0 != ":" }
            try Violation.require(stays.contains(String(part)), "\(name) is left behind")
        }
        for (host, found) in look.hosts {
            try Violation.require(found.running == 0 && found.marks.isEmpty, "host \(host) is left as \(found)")
        }
    }
}
#endif
