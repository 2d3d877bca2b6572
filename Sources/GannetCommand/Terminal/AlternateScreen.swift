import GannetBase

/// A screen of its own on a terminal, left as it was found: keys arrive one by one and unseen, and there is no cursor.
final class AlternateScreen {
    private let terminal: Terminal
    private let input = Surroundings.current.input
    private var frame = ScreenFrame()

    init(_ terminal: Terminal) {
        self.terminal = terminal
        enter()
    }

    deinit { leave() }

    /// False where the terminal is gone.
    func draw(_ lines: [StyledText]) -> Bool { write(frame.update(lines, terminal.size, terminal.style)) }

    /// The next drawing writes all of it, whatever another program has written meanwhile.
    func forget() { frame.forget() }

    /// Gives the terminal back, stops the process as Ctrl-Z does, and takes the terminal again when the process goes on.
    func suspend() {
        leave()
        // Raised for this thread, so that it stops here and not some steps later. SIGTSTP is blocked in such threads.
        raise(SIGSTOP)
        enter()
    }

    private func enter() {
        // The screen has to be given back before the process stops, so the key is read instead of turned into a signal.
        SingleKeys.begin(on: input, readsStopKey: true)
        frame.forget()
        _ = write("\u{1b}[?1049h\u{1b}[?25l")
    }

    private func leave() {
        _ = write("\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l")
        SingleKeys.end()
    }

    private func write(_ text: String) -> Bool { Descriptor.writeAll(text, to: terminal.descriptor) == nil }
}

/// The rows of a whole screen. An update writes only the rows that differ.
struct ScreenFrame: Sendable {
    private var rows: [String] = []
    private var size: Terminal.Size?

    /// - Returns: Nothing where nothing has changed.
    mutating func update(_ lines: [StyledText], _ size: Terminal.Size, _ style: TerminalStyle) -> String {
        var text = ""
        if self.size != size {
            // Each terminal moves rows in its own way when it is resized.
            text += "\u{1b}[H\u{1b}[2J"
            rows = [String](repeating: "", count: size.rows)
            self.size = size
        }
        for row in 0..<size.rows {
            let line = row < lines.count ? lines[row].cut(to: max(1, size.columns - 1), style).written(style) : ""
            guard line != rows[row] else { continue }
            rows[row] = line
            text += "\u{1b}[\(row + 1);1H\(line)\u{1b}[K"
        }
        return text.isEmpty ? "" : Terminal.atOnce(text)
    }

    /// The next update writes all rows.
    mutating func forget() { size = nil }
}
