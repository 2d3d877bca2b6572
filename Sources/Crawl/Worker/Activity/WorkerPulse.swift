internal import GannetBase

/// The numbers that a worker's heartbeats tell.
final class WorkerPulse: Sendable {
    private let state = Mutex((held: 0, isStopping: false, partitions: [Int]()))
    private let began = ContinuousClock.now

    /// Something comes here when the worker begins a job while it holds none.
    let beginnings: AsyncStream<Void>
    private let beginning: AsyncStream<Void>.Continuation

    init() { (beginnings, beginning) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// The jobs that the worker has begun and not settled.
    var held: Int { state.withLock { $0.held } }
    /// The worker claims no more jobs.
    var isStopping: Bool { state.withLock { $0.isStopping } }
    /// The partitions that the worker works on, in order.
    var partitions: [Int] { state.withLock { $0.partitions } }
    /// For how long the worker has run.
    var age: Duration { .now - began }

    func note(held: Int, isStopping: Bool, partitions: [Int] = []) {
        let isFirst = state.withLock { state in
            defer { state = (held, isStopping, partitions) }
            return state.held == 0 && held > 0
        }
        if isFirst { beginning.yield() }
    }
}
