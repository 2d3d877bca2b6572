import BenchmarkKit
import GannetQueue
import GannetTestKit

/// One URL that very many jobs wait for.
struct Followers {
    let stage: Stage
    let scale: Scale

    func run() async throws {
        try await stage.clear()
        try await stage.queue.fill("b", scale.jobs + 1) { _ in try Feed.entry(7, host: 0) }
        var holder = Worker(stage.queue)
        try await holder.exchange(1)
        var other = Worker(stage.queue)
        table("\(grouped(scale.jobs)) jobs for the URL of one running fetch", "", "exchanges", "time", "server p50", "server longest")
        try await stage.row(["until all follow the fetch"]) { while try await other.exchange(64) {} }
        guard try await stage.queue.counts().parked == scale.jobs else { throw KitError("Not all jobs follow the fetch.") }
        try await stage.row(["the fetch ends"]) { try await holder.exchange(0) }
        try await stage.row(["until all have its outcome"]) { while try await other.exchange(256) {} }
    }
}
