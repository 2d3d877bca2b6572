internal import GannetBase

/// When the host of a fetch may have a place for it, as far as that is known.
package final class HostWait: Sendable {
    private let opening = Mutex<ContinuousClock.Instant?>(nil)

    package init() {}

    /// - Parameter opening: nil when the fetch waits for no host.
    package func note(_ opening: ContinuousClock.Instant?) { self.opening.withLock { $0 = opening } }

    /// For how long the fetch waits still; nil when it waits for no host.
    func left(at now: ContinuousClock.Instant) -> Duration? { opening.withLock { $0 }.map { max(.zero, $0 - now) } }
}
