import GannetBasics

/// A screen of its own on a terminal, left as it was found: keys arrive one by one and unseen, and there is no cursor.
final class AlternateScreen {
    private let terminal: Terminal
    private var before: termios?
    private var frame = ScreenFrame()

    init(_ terminal: Terminal) {
        self.terminal = terminal
        enter()
    }

    deinit { leave() }

    /// False where the terminal is gone.
    func draw(_ lines: [StyledText]) -> Bool { write(frame.update(lines, terminal.size, terminal.style)) }

    /// All of it anew, whatever has written to it meanwhile.
    func forget() { frame.forget() }

    /// Gives the terminal back, stops the process as Ctrl-Z does, and takes the terminal again when the process goes on.
    func suspend() {
        leave()
        // To this thread, so that it stops here and not some steps further on; the other signal that stops is kept from such threads.
        raise(SIGSTOP)
        enter()
    }

    private func enter() {
        var modes = termios()
        if isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &modes) == 0 {
            before = modes
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
            // The screen has to be given back before the process stops; so the key is read instead of turned into a signal.
            withUnsafeMutableBytes(of: &modes.c_cc) { keys in
                keys[Int(VSUSP)] = 0
                keys[Int(VMIN)] = 1
                keys[Int(VTIME)] = 0
            }
            tcsetattr(STDIN_FILENO, TCSANOW, &modes)
        }
        frame.forget()
        _ = write("\u{1b}[?1049h\u{1b}[?25l")
    }

    private func leave() {
        _ = write("\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l")
        if var modes = before { tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) }
        before = nil
    }

    private func write(_ text: String) -> Bool { Descriptor.writeAll(text, to: terminal.descriptor) == nil }
}
