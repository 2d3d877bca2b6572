internal import GannetBasics
internal import Synchronization

/// Something to do on a thread that may block, for a caller that may leave before it is done.
final class FileJob<Value: Sendable>: FileThreads.Job {
    private enum State {
        case new
        case awaited(CheckedContinuation<FileThreads.Outcome<Value>, Never>)
        case over
    }

    private let work: @Sendable (FileThreads.Caller) -> Value
    private let caller = FileThreads.Caller()
    private let state = Mutex(State.new)

    init(_ work: @escaping @Sendable (FileThreads.Caller) -> Value) { self.work = work }

    /// False, and the continuation is resumed, when the caller has left already.
    func attach(_ continuation: CheckedContinuation<FileThreads.Outcome<Value>, Never>) -> Bool {
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .awaited(continuation)
            return false
        }
        if isOver { continuation.resume(returning: .left) }
        return !isOver
    }

    func run() {
        guard !caller.isGone else { return }
        finish(.done(work(caller)))
    }

    func refuse() { finish(.refused) }

    func leave() {
        caller.leave()
        finish(.left)
    }

    private func finish(_ outcome: FileThreads.Outcome<Value>) {
        let continuation = state.withLock { state -> CheckedContinuation<FileThreads.Outcome<Value>, Never>? in
            defer { state = .over }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: outcome)
    }
}
