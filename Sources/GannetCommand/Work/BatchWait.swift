import ClusterState
import GannetBasics

/// Waits for the end of a batch. It has to look for it: often at first, then twice a second.
struct BatchWait: Sendable {
    let batch: String
    let queue: FetchQueue
    let console: Console

    private static let backoff = Backoff(first: .milliseconds(20), longest: .milliseconds(500))
    private static let noteInterval = Duration.seconds(10)

    /// The batch as it was at last: complete, unless the time was up. Throws ``StateError`` or ``CommandFailure``.
    func run(atMost limit: Duration? = nil) async throws -> Batch {
        let end = limit.map { ContinuousClock.now + $0 }
        var looks = 0
        var nextNote = ContinuousClock.now + Self.noteInterval
        var hasSaidOpen = false
        while true {
            guard let status = try await queue.batch(named: batch) else { throw BatchArgument.unknown(batch, queue.name) }
            let now = ContinuousClock.now
            if status.isComplete { return status }
            if let end, now >= end { return status }
            if status.state == .open, status.ended == status.total, !hasSaidOpen {
                hasSaidOpen = true
                console.note("all accepted URLs of the batch have ended, but its input has not: is its 'enqueue' still running?")
            }
            if now >= nextNote {
                nextNote = now + Self.noteInterval
                console.note("batch \(batch): \(status.ended) of \(status.total) ended, \(status.failed) failed")
            }
            let pause = Self.backoff.pause(after: looks)
            try await Task.sleep(for: min(pause, end.map { max(.zero, $0 - now) } ?? pause))
            looks += 1
        }
    }
}
