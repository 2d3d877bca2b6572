internal import GannetBasics
internal import Synchronization

/// A few threads that work with files for tasks that wait: a disk, and a network's all the more, may keep a thread for seconds.
///
/// They start when they are needed and end with this object. The first one to be wanted and not to be had is no reason to stop: what
/// waits is refused, and the next job tries again.
final class FileThreads: Sendable {
    /// What became of a job.
    enum Outcome<Value: Sendable>: Sendable {
        case done(Value)
        /// Too many wait, or there is no thread.
        case refused
        /// The caller was cancelled.
        case left
    }

    /// Whether anybody still waits for a job that runs.
    final class Caller: Sendable {
        private let hasLeft = Atomic(false)

        var isGone: Bool { hasLeft.load(ordering: .relaxed) }
        func leave() { hasLeft.store(true, ordering: .relaxed) }
    }

    protocol Job: Sendable {
        func run()
        func refuse()
    }

    typealias Lines = JobLines<any Job>

    private struct State {
        var lines: Lines
        var threads = 0
        var idle = 0
        var isClosed = false

        /// Who is to be called to do what waits. A new thread is counted from now on.
        mutating func help(_ most: Int) -> Help {
            guard lines.hasNext else { return .none }
            if idle > 0 { return .idle }
            guard threads < most else { return .none }
            threads += 1
            return .new
        }
    }

    private enum Help {
        case none, idle, new
    }

    private let state: Condition<State>
    private let most: Int

    init(_ limits: Lines.Limits) {
        state = Condition(State(lines: Lines(limits)))
        most = limits.threads
    }

    deinit {
        state.withLock { $0.isClosed = true }
        state.wakeAll()
    }

    /// Does `work` on one of the threads; leaves at once when the task is cancelled, whatever the disk does.
    /// - Parameters:
    ///   - bytes: What the job holds in memory until its turn.
    ///   - mayBeRefused: Whether it is refused when too many wait; otherwise it waits with them.
    func run<Value: Sendable>(
        _ line: Lines.Line, bytes: Int = 0, mayBeRefused: Bool = true,
        _ work: @escaping @Sendable (Caller) -> Value
    ) async -> Outcome<Value> {
        let job = FileJob(work)
        let place = Mutex<Lines.Place?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard job.attach(continuation) else { return }
                submit(job, to: line, bytes: bytes, mayBeRefused: mayBeRefused) { taken in place.withLock { $0 = taken } }
            }
        } onCancel: {
            job.leave()
            // A job that gets its place after this finds its caller gone.
            if let place = place.withLock({ $0 }) { _ = state.withLock { $0.lines.remove(place) } }
        }
    }

    /// Does `work` at some time, when nothing more urgent waits; not at all when such work waits already, or there is no thread.
    func tidy(_ work: @escaping @Sendable () -> Void) {
        submit(TidyingJob(work: work), to: .tidying, bytes: 0, mayBeRefused: true) { _ in }
    }

    private func submit(
        _ job: some Job, to line: Lines.Line, bytes: Int, mayBeRefused: Bool, placed: (Lines.Place) -> Void
    ) {
        let (place, help) = state.withLock { state in
            let place = state.lines.add(job, to: line, bytes: bytes, mayBeRefused: mayBeRefused)
            return (place, state.help(most))
        }
        guard let place else { return job.refuse() }
        placed(place)
        Self.give(help, state, most)
    }

    private static func give(_ help: Help, _ state: Condition<State>, _ most: Int) {
        switch help {
        case .none: return
        case .idle: return state.wake()
        case .new: break
        }
        guard OwnedThread(name: "gannet-files", { work(state, most) }) == nil else { return }
        let stranded = state.withLock { state in
            state.threads -= 1
            return state.threads == 0 ? state.lines.removeAll() : []
        }
        for job in stranded { job.refuse() }
    }

    private static func work(_ state: Condition<State>, _ most: Int) {
        var last: Lines.Line?
        while true {
            let ended = last
            var isFirstLook = true
            let next = state.wait { state -> (job: any Job, line: Lines.Line)?? in
                if isFirstLook {
                    if let ended { state.lines.ended(ended) }
                } else {
                    state.idle -= 1
                }
                isFirstLook = false
                if let next = state.lines.next() { return .some(next) }
                if state.isClosed { return .some(nil) }
                state.idle += 1
                return nil
            }
            guard let next else { return }
            // A thread that was woken looks idle until it runs, so what was added meanwhile has no help yet.
            give(state.withLock { $0.help(most) }, state, most)
            next.job.run()
            last = next.line
        }
    }
}

private struct TidyingJob: FileThreads.Job {
    let work: @Sendable () -> Void

    func run() { work() }
    func refuse() {}
}
