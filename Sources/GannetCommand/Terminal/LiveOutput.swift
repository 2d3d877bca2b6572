import GannetBase

/// Standard error, with lines at its bottom that are redrawn while messages scroll by above them.
final class LiveOutput: Sendable {
    private struct State {
        var area = LiveArea()
        var lines: [StyledText] = []
        var terminal: Terminal?
    }

    private let state = Mutex(State())
    private let errors = Surroundings.current.errors

    func show(_ lines: [StyledText], on terminal: Terminal) {
        state.withLock { state in
            state.terminal = terminal
            state.lines = lines
            let text = state.area.draw(lines, in: terminal.size.columns, terminal.style)
            _ = Descriptor.writeAll(Terminal.atOnce(text), to: terminal.descriptor)
        }
    }

    func end() {
        state.withLock { state in
            guard let terminal = state.terminal else { return }
            _ = Descriptor.writeAll(state.area.erase(in: terminal.size.columns), to: terminal.descriptor)
            state.terminal = nil
        }
    }

    /// Writes a message above the lines. Where standard error cannot be written there is nowhere left to say so.
    func write(_ text: String) {
        state.withLock { state in
            guard let terminal = state.terminal else {
                _ = Descriptor.writeAll(text, to: errors)
                return
            }
            let columns = terminal.size.columns
            let erased = state.area.erase(in: columns) + text
            _ = Descriptor.writeAll(
                Terminal.atOnce(erased + state.area.draw(state.lines, in: columns, terminal.style)), to: terminal.descriptor)
        }
    }

    /// Lets something else be written meanwhile, such as a result to the same terminal.
    func aside<Result>(_ body: () -> Result) -> Result {
        state.withLock { state in
            guard let terminal = state.terminal else { return body() }
            let columns = terminal.size.columns
            _ = Descriptor.writeAll(state.area.erase(in: columns), to: terminal.descriptor)
            defer { _ = Descriptor.writeAll(state.area.draw(state.lines, in: columns, terminal.style), to: terminal.descriptor) }
            return body()
        }
    }
}

/// Lines at the bottom of the output that are redrawn in place. It returns the text to write, and writes nothing itself.
///
/// The cursor stays at the end of the last line. Between two drawings the terminal may have become narrower, and have broken lines that
/// fitted before: each counts as many rows as it needs by then.
struct LiveArea: Sendable {
    private var widths: [Int] = []

    var isShown: Bool { !widths.isEmpty }

    /// How wide a line may be. After a line as wide as the screen, terminals differ about where the cursor is. A line wider than 80 columns
    /// breaks when its window is made that narrow. The terminal may break it before it reports the new size, and pieces of the old line
    /// would stay beside the new one.
    static func room(in columns: Int) -> Int { max(1, min(columns, Terminal.Size.usual.columns) - 1) }

    /// The text that replaces the earlier lines.
    mutating func draw(_ lines: [StyledText], in columns: Int, _ style: TerminalStyle) -> String {
        let cut = lines.map { $0.cut(to: Self.room(in: columns), style) }
        let text = toFirstRow(columns) + cut.map { $0.written(style) + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J"
        widths = cut.map(\.width)
        return text
    }

    /// Leaves the cursor where the first line was.
    mutating func erase(in columns: Int) -> String {
        guard isShown else { return "" }
        defer { widths = [] }
        return toFirstRow(columns) + "\u{1b}[J"
    }

    private func toFirstRow(_ columns: Int) -> String {
        let rows = widths.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        return rows > 1 ? "\r\u{1b}[\(rows - 1)A" : "\r"
    }
}
