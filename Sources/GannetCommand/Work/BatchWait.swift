import Gannet

/// Waits for the end of a batch. Nobody announces it, so it is looked for: often at first, then twice a second.
struct BatchWait: Sendable {
    let batch: String
    let queue: String
    let cluster: Cluster
    let console: Console

    private static let firstPause = Duration.milliseconds(20)
    private static let longestPause = Duration.milliseconds(500)
    private static let noteInterval = Duration.seconds(10)

    /// The batch as it was at last: complete, unless the time was up. Throws ``ClusterError`` or ``CommandFailure``.
    func run(atMost limit: Duration? = nil) async throws -> BatchStatus {
        let end = limit.map { ContinuousClock.now + $0 }
        var pause = Self.firstPause
        var nextNote = ContinuousClock.now + Self.noteInterval
        var hasSaidOpen = false
        while true {
            guard let status = try await cluster.batch(batch, of: queue) else { throw BatchArgument.unknown(batch, queue) }
            let now = ContinuousClock.now
            if status.isComplete { return status }
            if let end, now >= end { return status }
            if status.state == .open, status.ended == status.total, !hasSaidOpen {
                hasSaidOpen = true
                console.note("all that was accepted of the batch has ended, but its input has not: is its 'enqueue' still running?")
            }
            if now >= nextNote {
                nextNote = now + Self.noteInterval
                console.note("batch \(batch): \(status.ended) of \(status.total) ended, \(status.failed) failed")
            }
            try await Task.sleep(for: min(pause, end.map { max(.zero, $0 - now) } ?? pause))
            pause = min(Self.longestPause, pause * 2)
        }
    }
}
