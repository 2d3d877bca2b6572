import RedisClient

@testable import ClusterState

#if canImport(Glibc)
extension ModelRun {
    /// One worker ends all jobs that are left. Afterwards nothing may be left behind.
    mutating func finish() async throws {
        story.append("one worker does the rest")
        for queue in 0..<2 { try await perform(.pause(queue: queue, false)) }
        if maker.climate.ending == .oneQueueFirst { try await work([0]) }
        try await work([0, 1])
        // The next claim removes what deleted jobs have left in their lists.
        for queue in 0..<2 { try await claimAndSettle(queue) }
        for job in model.jobs.values {
            try Violation.require(job.fate != .open && job.fate != .tombstone, "job \(job.record.serial) has not ended")
        }
        try await checkNothingIsLeftBehind()
    }

    private static var mostRounds: Int { 2000 }

    /// Claims from queues and ends the jobs, until none is left.
    private mutating func work(_ queues: [Int]) async throws {
        for round in 0... {
            (isMore, next) = (false, nil)
            for queue in queues { try await claimAndSettle(queue) }
            let isDone = !model.jobs.values.contains { $0.fate == .open && queues.contains($0.record.queue) }
            if isDone, queues.count == 1 || look.flights.isEmpty && look.jobs.isEmpty { return }
            try Violation.require(round < Self.mostRounds, "after \(round) rounds there still is something to do: \(look.jobs)")
            if maker.climate.ending == .asTold {
                if isMore { continue }
                guard let next else { throw Violation(description: "nobody would look again, and there is \(look.jobs)") }
                try await perform(.clock(next))
            } else {
                try await perform(.clock(1000 + round * 1000))
            }
        }
    }

    private mutating func claimAndSettle(_ queue: Int) async throws {
        let nonce = Nonce(UInt64(story.count))
        let limit = maker.climate.claimLimits.max()!
        try await perform(
            .claim(ClaimCall(queue: queue, worker: 9, limit: limit, nonce: nonce, lease: maker.climate.lease, listens: false)))
        let mine = look.flights.filter { $0.key.nonce == nonce.number && $0.value.job != nil }
        let items = mine.keys.sorted().map { token in maker.ending(token, mine[token]!) }
        if items.isEmpty { return }
        try await perform(.settle(SettleCall(queue: queue, items: items, claimsAgain: true, random: 0)))
        isMore = true
    }

    /// Two days later, only keys that are meant to stay may be there.
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
