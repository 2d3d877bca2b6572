import GannetBase

/// The key `f` at the terminal of a run that shows its progress. All other keys are read and dropped.
final class FinishKey: Sendable {
    enum Press: Sendable {
        case finish
        /// The first key that means nothing.
        case firstOther
    }

    private let input: Int32
    private let state = Mutex(LoneKey())

    /// Nil where standard input is no terminal.
    init?() {
        input = Surroundings.current.input
        guard isatty(input) == 1 else { return nil }
    }

    /// Whether the key would be seen.
    var isWatched: Bool { SingleKeys.isOn }

    /// The key that was pressed since the last look. To be asked a few times a second.
    func pressed() -> Press? {
        state.withLock { state in
            guard SingleKeys.begin(on: input) else { return nil }
            var waiting: Int32 = 0
            guard ioctl(input, UInt(FIONREAD), &waiting) == 0 else { return nil }
            var keys = [UInt8](repeating: 0, count: min(Int(waiting), Self.mostAtOnce))
            let count = keys.isEmpty ? 0 : read(input, &keys, keys.count)
            return state.look(Array(keys.prefix(max(0, count))))
        }
    }

    private static let mostAtOnce = 4096

    /// Gives the keyboard back.
    func end() { SingleKeys.end() }
}

/// Tells the key `f` from a command that is typed ahead: it counts where nothing else comes for a second before it, and until the next look.
struct LoneKey: Sendable {
    /// As many looks without a key end a word.
    static let pause = 5

    /// Looks without a key until `f` counts again.
    private var looksToWait = 0
    private var isHeld = false
    private var hasMetOther = false

    /// - Parameter keys: The keys that have come since the last look. Several at once are a word, or a key with a longer code.
    mutating func look(_ keys: [UInt8]) -> FinishKey.Press? {
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
