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

/// The machine and the number of this process, for people who look for it.
enum ThisProcess {
    static let id = Int(getpid())

    /// The name that the machine itself has. No name server is asked.
    static let machine: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
