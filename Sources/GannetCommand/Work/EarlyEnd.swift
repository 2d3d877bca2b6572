import GannetBase
import Results

/// Ends a run before its list, without a signal: by the clock, by a key, by `gannet run --finish` or by `gannet workers drain`.
///
/// The first of these is the reason that its rows name.
final class EarlyEnd: Sendable {
    private struct State {
        var reason: String?
        var pressed = 0
    }

    private let pipe: FinishPipe
    private let key: FinishKey?
    private let command: String
    private let deadline: Duration?
    private let console: Console
    private let interruption: Interruption
    private let state = Mutex(State())

    /// One element for each request to stop, as a worker takes them.
    let stops: AsyncStream<Void>
    private let stopper: AsyncStream<Void>.Continuation

    /// A second one hands back the requests in flight. A third one would leave them.
    private static let mostPressed = 2

    init(_ options: RunCommand, _ pipe: FinishPipe, _ interruption: Interruption) {
        self.pipe = pipe
        self.interruption = interruption
        console = options.console
        deadline = options.deadline
        command = "gannet run --finish -d " + Sentence.quotedForShell(options.directory)
        // The keys of a terminal that the list is read from are the list.
        key = console.terminal == nil || options.input.mayReadTerminal ? nil : FinishKey()
        (stops, stopper) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(8))
    }

    /// `The run was ended by '--deadline'`; nil while nothing but a signal has ended it.
    var reason: String? { state.withLock { $0.reason } }

    /// Whether another process waits for the end.
    var isAwaited: Bool { pipe.isAsked }

    /// How a person may end the run, in words; nil when it is ending.
    var offer: String? {
        guard reason == nil, interruption.request == nil else { return nil }
        return key?.isWatched == true ? "f ends the run now; rows that wait count as failed" : "'\(command)' ends the run now"
    }

    /// Stops the worker.
    func stop() { stopper.yield() }

    /// Looks for the key. To be called a few times a second.
    func lookForKey() {
        switch key?.pressed() {
        case nil: break
        case .firstOther:
            console.note("of all keys only f is read: it ends the run. Others are dropped, and f counts again a second after them.")
        case .finish:
            let pressed = state.withLock { state in
                state.pressed += 1
                return state.pressed
            }
            if pressed <= Self.mostPressed { end("the key f", "the key f was pressed") }
        }
    }

    func giveKeysBack() { key?.end() }

    /// The worker ends by itself.
    func noteDrain() { note("'gannet workers drain'") }

    /// Returns when another process asks for the end.
    func asked() async throws { try await pipe.asked() }

    /// Waits for signals, the clock and other processes, in tasks that the caller cancels.
    func watch(since start: ContinuousClock.Instant) -> [Task<Void, any Error>] {
        let tasks: [Task<Void, any Error>?] = [
            Task { for await _ in self.interruption.stops { self.stop() } },
            Task {
                try await self.asked()
                self.end("'gannet run --finish'", "asked by 'gannet run --finish'")
            },
            deadline.map { deadline in
                Task {
                    try await Task.sleep(until: start + deadline)
                    self.end("'--deadline'", "the time of '--deadline' is over")
                }
            },
        ]
        return tasks.compactMap(\.self)
    }

    /// After a signal, it counts as one more signal.
    private func end(_ cause: String, _ news: String) {
        if interruption.request == nil, note(cause) { console.note("\(news): the run ends, and the URLs that are left count as failed.") }
        stop()
    }

    @discardableResult
    private func note(_ cause: String) -> Bool {
        state.withLock { state in
            guard state.reason == nil else { return false }
            state.reason = "The run was ended by \(cause)"
            return true
        }
    }
}
