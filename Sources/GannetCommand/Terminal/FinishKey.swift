import GannetBase

/// The key `f` at the terminal of a run that shows its progress.
///
/// A command that is typed ahead is for the shell. So a key is read only where it came alone, and after any other word the keyboard is left alone.
final class FinishKey: Sendable {
    private let input: Int32
    private let state = Mutex(LoneKey())

    /// Nil where standard input is no terminal.
    init?() {
        input = Surroundings.current.input
        guard isatty(input) == 1 else { return nil }
    }

    /// Whether the key would be seen.
    var isWatched: Bool { SingleKeys.isOn }

    /// Whether the key was pressed. To be asked a few times a second.
    func wasPressed() -> Bool {
        state.withLock { state in
            guard !state.isTyping, SingleKeys.begin(on: input) else { return false }
            var waiting: Int32 = 0
            guard ioctl(input, UInt(FIONREAD), &waiting) == 0 else { return false }
            let isPressed = state.look(waiting: Int(waiting)) {
                var byte: UInt8 = 0
                return read(input, &byte, 1) == 1 ? byte : nil
            }
            if state.isTyping { SingleKeys.end() }
            return isPressed
        }
    }

    /// Gives the keyboard back.
    func end() { SingleKeys.end() }
}

/// Tells the key `f` from a command that is typed ahead. The key counts when nothing else has come until the next look.
struct LoneKey: Sendable {
    /// Something else is typed. Nothing more is read then.
    private(set) var isTyping = false
    private var isHeld = false

    /// - Parameters:
    ///   - waiting: The number of bytes that can be read.
    ///   - read: Takes the next byte.
    /// - Returns: Whether the key was pressed.
    mutating func look(waiting: Int, read: () -> UInt8?) -> Bool {
        guard !isTyping else { return false }
        if waiting == 0 {
            defer { isHeld = false }
            return isHeld
        }
        // Several at once are a word, or a key with a longer code. None of them is taken.
        guard waiting == 1, let byte = read() else {
            isTyping = true
            return false
        }
        switch byte {
        case UInt8(ascii: "f"), UInt8(ascii: "F"):
            // The second of two quick presses.
            defer { isHeld = !isHeld }
            return isHeld
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "): return false
        default:
            isTyping = true
            return false
        }
    }
}
