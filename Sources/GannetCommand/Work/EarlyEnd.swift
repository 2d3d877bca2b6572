import GannetBase
import Results

/// Ends a run before its list, without a signal: by the clock, by a key, by `gannet run --finish` or by `gannet workers drain`.
///
/// The first of these is the reason that its rows name.
final class EarlyEnd: Sendable {
    private struct State {
        var reason: String?
        var key = LoneKey()
        var pressed = 0
    }

    private let pipe: FinishPipe
    /// The terminal whose key `f` ends the run, while its progress is shown. All other keys are read and dropped.
    private let keyboard: Int32?
    private let command: String
    private let deadline: Duration?
    private let console: Console
    private let interruption: Interruption
    private let state = Mutex(State())

    /// A second one hands back the requests in flight. A third one would leave them.
    private static let mostPressed = 2

    init(_ options: RunCommand, _ pipe: FinishPipe, _ interruption: Interruption) {
        self.pipe = pipe
        self.interruption = interruption
        console = options.console
        deadline = options.deadline
        command = "gannet run --finish -d " + Sentence.quotedForShell(options.directory)
        let input = Surroundings.current.input
        // The keys of a terminal that the list is read from are the list.
        keyboard = console.terminal == nil || options.input.mayReadTerminal || isatty(input) != 1 ? nil : input
    }

    /// `The run was ended by '--deadline'`; nil while nothing but a signal has ended it.
    var reason: String? { state.withLock { $0.reason } }

    /// Whether another process waits for the end.
    var isAwaited: Bool { pipe.isAsked }

    /// How a person may end the run, in words; nil when it is ending.
    var offer: String? {
        guard reason == nil, interruption.request == nil else { return nil }
        return keyboard != nil && SingleKeys.isOn ? "f ends the run now; rows that wait count as failed" : "'\(command)' ends the run now"
    }

    /// Looks for the key. To be called a few times a second.
    func lookForKey() {
        guard let keyboard, let keys = SingleKeys.pressed(on: keyboard) else { return }
        let (press, count) = state.withLock { state in
            let press = state.key.look(keys)
            if press == .finish { state.pressed += 1 }
            return (press, state.pressed)
        }
        switch press {
        case nil: break
        case .firstOther:
            console.note("of all keys only f is read: it ends the run. Others are dropped, and f counts again a second after them.")
        case .finish: if count <= Self.mostPressed { end("the key f", "the key f was pressed") }
        }
    }

    func giveKeysBack() { if keyboard != nil { SingleKeys.end() } }

    /// The worker ends by itself.
    func noteDrain() { note("'gannet workers drain'") }

    /// Returns when another process asks for the end.
    func asked() async throws { try await pipe.asked() }

    /// Waits for the clock and other processes, in tasks that the caller cancels.
    func watch(since start: ContinuousClock.Instant) -> [Task<Void, any Error>] {
        let asking = Task {
            try await asked()
            end("'gannet run --finish'", "asked by 'gannet run --finish'")
        }
        guard let deadline else { return [asking] }
        let waiting = Task {
            try await Task.sleep(until: start + deadline)
            end("'--deadline'", "the time of '--deadline' is over")
        }
        return [asking, waiting]
    }

    /// After a signal, it counts as one more signal.
    private func end(_ cause: String, _ news: String) {
        if interruption.request == nil, note(cause) { console.note("\(news): the run ends, and the URLs that are left count as failed.") }
        interruption.stop()
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

/// Tells the key `f` from a command that is typed ahead: it counts where nothing else comes for a second before it, and until the next look.
struct LoneKey: Sendable {
    enum Press: Sendable {
        case finish
        /// The first key that means nothing.
        case firstOther
    }

    /// As many looks without a key end a word.
    static let pause = 5

    /// Looks without a key until `f` counts again.
    private var looksToWait = 0
    private var isHeld = false
    private var hasMetOther = false

    /// - Parameter keys: The keys that have come since the last look. Several at once are a word, or a key with a longer code.
    mutating func look(_ keys: [UInt8]) -> Press? {
        // No word is of this letter alone. A key that is held down comes several times.
        if keys.allSatisfy({ "fF".utf8.contains($0) }) {
            guard looksToWait == 0 else {
                looksToWait -= 1
                return nil
            }
            // The second of two quick presses counts too.
            defer { isHeld = !keys.isEmpty && !isHeld }
            return isHeld ? .finish : nil
        }
        if looksToWait == 0, keys.allSatisfy({ "\n\r ".utf8.contains($0) }) { return nil }
        isHeld = false
        looksToWait = Self.pause
        defer { hasMetOther = true }
        return hasMetOther ? nil : .firstOther
    }
}
