internal import GannetBase

/// How many of a worker's requests wait for a place at a host that a redirect leads to: a fourth of them may.
final class HopWaits: Sendable {
    private let most: Int
    private let count = Mutex(0)

    init(places: Int) { most = max(1, places / 4) }

    /// False where too many wait.
    func enter() -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
