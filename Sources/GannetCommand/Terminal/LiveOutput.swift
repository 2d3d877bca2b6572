import GannetBasics

/// Standard error, with lines at its bottom that are drawn anew while messages go by above them.
final class LiveOutput: Sendable {
    private struct State {
        var area = LiveArea()
        var lines: [StyledText] = []
        var terminal: Terminal?
    }

    private let state = Mutex(State())

    /// Draws these lines in the place of those before.
    func show(_ lines: [StyledText], on terminal: Terminal) {
        state.withLock { state in
            state.terminal = terminal
            state.lines = lines
            let text = state.area.draw(lines, in: terminal.size.columns, terminal.style)
            _ = Descriptor.writeAll(Terminal.atOnce(text), to: terminal.descriptor)
        }
    }

    /// Takes the lines away.
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
                _ = Descriptor.writeAll(text, to: STDERR_FILENO)
                return
            }
            let columns = terminal.size.columns
            // What the terminal does with a line break is a matter of its modes; a line that begins at its left edge is what is meant.
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
