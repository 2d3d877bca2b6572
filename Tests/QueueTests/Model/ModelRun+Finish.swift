import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

extension ModelRun {
    private static let mostRounds = 3000

    /// One worker for each queue ends all jobs that are left. They look only when an answer says so. Afterwards nothing may be left behind.
    func finish() async throws {
        story.append("two workers do the rest")
        var draw = Draw(7)
        for queue in 0..<2 {
            isPaused[queue] = false
            _ = try await cluster.queue(Self.queueNames[queue]).resume()
            var worker = born(queue, &draw)
            worker = Worker(
                name: worker.name, queue: queue, incarnation: worker.incarnation, lease: 30_000, exchanges: worker.exchanges)
            workers[queue] = worker
        }
        workers.removeLast(workers.count - 2)
        var idle = 0
        for round in 0... {
            var next: Int?
            var isMore = false
            for index in 0..<2 {
                for partition in 0..<climate.partitions {
                    let ends = workers[index].held.filter { $0.partition == partition }.map { end(of: $0, &draw, .fetched) }
                    try await exchange(index, in: partition, ends, wanted: 100)
                    guard let answer = workers[index].last?.answer else { continue }
                    isMore = isMore || answer.isMore || !answer.jobs.isEmpty || !ends.isEmpty
                    if let wait = answer.next?.wholeMilliseconds { next = min(next ?? wait, wait) }
                }
            }
            if isMore { continue }
            if open.allSatisfy(\.isEmpty), looks.allSatisfy({ $0.locks.isEmpty }) { break }
            try Violation.require(
                round < Self.mostRounds,
                "after \(round) rounds there still is something to do: \(looks.map(\.places)) \(looks.map(\.locks))")
            guard let next else {
                throw Violation(description: "nobody would look again, and there is \(looks.map(\.places)) \(looks.map(\.locks))")
            }
            // An answer may ask for another call at once, and has to come to an end with that.
            idle = next == 0 ? idle + 1 : 0
            try Violation.require(idle < 50, "answers ask for another call again and again, and bring nothing")
            bench.advance(max(1, next))
        }
        try await checkNothingIsLeftBehind()
    }

    /// A month later, when no outcome is kept any more, only keys that are meant to stay may be there.
    private func checkNothingIsLeftBehind() async throws {
        // A call forgets some of its partition's hosts. Several partitions have few each.
        let calls = climate.partitions == 1 ? 20 : 5
        for _ in 0..<4 {
            bench.advance(8 * 86_400_000)
            for index in 0..<2 {
                for partition in 0..<climate.partitions {
                    for _ in 0..<calls { try await exchange(index, in: partition, [], wanted: 10) }
                }
            }
        }
        let stays = ["state", "leases", "holder", "hosts", "q:a:queue", "q:b:queue", "batches", "batch", "finished", "dead", "idle"]
        for key in looks.flatMap(\.keys) {
            let parts = key.split(separator: ":")
            let part = parts[0] == "q" ? String(parts[2] == "queue" ? key[...] : parts[2]) : String(parts[0])
            try Violation.require(stays.contains(part), "\(key) is left behind")
        }
        for look in looks {
            // A request that was moved when its worker had gone keeps its place until the worker's lease ends there.
            let places = look.holders.values.joined().filter { $0.key.count == 17 && $0.key[0] == StateLook.placeField }.map(\.value)
            for (name, host) in look.hosts {
                let held = places.count { $0 == Bytes(name.utf8) }
                // A queue that waited there stays noted until the place is free. A request that was redirected there is no queue.
                let isWaiting = host.waiting.contains { !$0.hasPrefix(":") }
                try Violation.require(host.running == held && (held > 0 || !isWaiting), "\(name) is left as \(host)")
            }
        }
    }
}
