internal import ClusterState
internal import GannetBasics

/// The leases that a worker holds, and how to end the work on each.
///
/// The work ends in two steps. ``cancelAll()`` cancels the fetches, and their jobs are handed back. If Redis does not answer in time,
/// ``abandonAll()`` ends the attempts to settle these jobs as well.
final class HeldLeases: Sendable {
    private struct Held {
        let cancelFetch: @Sendable () -> Void
        var abandonConclusion: (@Sendable () -> Void)?
        var isLost = false
    }

    private struct State {
        var held: [LockToken: Held] = [:]
        // A job may be added, or begin to settle, after all were cancelled or abandoned. These flags make sure that it is ended too.
        var areAllCancelled = false
        var areAllAbandoned = false
        var claimsAgain = true
    }

    private let state = Mutex(State())

    /// Something comes here when a job is added while none is held.
    let beginnings: AsyncStream<Void>
    private let beginning: AsyncStream<Void>.Continuation

    init() { (beginnings, beginning) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    var tokens: [LockToken] { state.withLock { Array($0.held.keys) } }

    var count: Int { state.withLock { $0.held.count } }

    /// Whether the worker claims another job when one of these has ended.
    var claimsAgain: Bool { state.withLock { $0.claimsAgain } }

    /// Notes that the worker claims no more jobs.
    func claimNoMore() { state.withLock { $0.claimsAgain = false } }

    /// Adds a job that the worker has begun to work on.
    func add(_ token: LockToken, cancel: @escaping @Sendable () -> Void) {
        let (isFirst, isTooLate) = state.withLock { state in
            let isFirst = state.held.isEmpty
            state.held[token] = Held(cancelFetch: cancel)
            return (isFirst, state.areAllCancelled)
        }
        if isFirst { beginning.yield() }
        if isTooLate { cancel() }
    }

    /// Notes that a job's fetch has ended and that its outcome is on the way to Redis.
    func conclude(_ token: LockToken, abandon: @escaping @Sendable () -> Void) {
        let isTooLate = state.withLock { state in
            state.held[token]?.abandonConclusion = abandon
            return state.areAllAbandoned
        }
        if isTooLate { abandon() }
    }

    func remove(_ token: LockToken) {
        _ = state.withLock { $0.held.removeValue(forKey: token) }
    }

    /// Cancels the fetches of jobs whose leases were lost, because another worker may have these jobs now.
    func lose(_ tokens: Set<LockToken>) {
        let cancels = state.withLock { state in
            tokens.compactMap { token in
                state.held[token]?.isLost = true
                return state.held[token]?.cancelFetch
            }
        }
        for cancel in cancels { cancel() }
    }

    func isLost(_ token: LockToken) -> Bool {
        state.withLock { $0.held[token]?.isLost ?? false }
    }

    /// Cancels all fetches, including those of jobs that are added later.
    func cancelAll() {
        let cancels = state.withLock { state in
            state.areAllCancelled = true
            return state.held.values.map(\.cancelFetch)
        }
        for cancel in cancels { cancel() }
    }

    /// Stops waiting for Redis. Jobs that are not settled come back when their leases end.
    func abandonAll() {
        cancelAll()
        let abandons = state.withLock { state in
            state.areAllAbandoned = true
            return state.held.values.compactMap(\.abandonConclusion)
        }
        for abandon in abandons { abandon() }
    }
}
