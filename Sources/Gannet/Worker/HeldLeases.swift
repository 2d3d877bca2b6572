internal import ClusterState
internal import Threads

/// The leases this worker holds, and how to end the work on each.
final class HeldLeases: Sendable {
    private let cancels = Mutex<[LeaseToken: @Sendable () -> Void]>([:])
    private let lost = Mutex<Set<LeaseToken>>([])

    var tokens: [LeaseToken] { cancels.withLock { Array($0.keys) } }

    func add(_ token: LeaseToken, cancel: @escaping @Sendable () -> Void) {
        cancels.withLock { $0[token] = cancel }
    }

    func remove(_ token: LeaseToken) {
        _ = cancels.withLock { $0.removeValue(forKey: token) }
        _ = lost.withLock { $0.remove(token) }
    }

    /// Ends the work on leases that are another's by now.
    func lose(_ tokens: Set<LeaseToken>) {
        for token in tokens {
            guard let cancel = cancels.withLock({ $0[token] }) else { continue }
            _ = lost.withLock { $0.insert(token) }
            cancel()
        }
    }

    func isLost(_ token: LeaseToken) -> Bool {
        lost.withLock { $0.contains(token) }
    }

    /// Ends the work on all.
    func cancelAll() {
        for cancel in cancels.withLock({ Array($0.values) }) { cancel() }
    }
}
