import GannetBasics

/// A terminal that can be drawn on, behind a descriptor.
struct Terminal: Sendable {
    struct Size: Sendable, Equatable {
        var columns: Int
        var rows: Int

        static let usual = Size(columns: 80, rows: 24)
    }

    let descriptor: Int32
    let style: TerminalStyle

    /// `nil` for what is no terminal, or one that can only print line after line.
    init?(_ descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard isatty(descriptor) == 1, let kind = environment["TERM"], !kind.isEmpty, kind != "dumb" else { return nil }
        self.descriptor = descriptor
        style = TerminalStyle(environment)
    }

    /// As it is now: people pull at their windows.
    var size: Size {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return .usual }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Not for a program that was sent to the background (`&`), whose drawing would be among what another prints. Where it is not the
    /// terminal that the program was started from, nobody else is there.
    var isForeground: Bool {
        let owner = tcgetpgrp(descriptor)
        return owner < 0 || owner == getpgrp()
    }

    /// What is written in one piece shows in one piece, where the terminal knows how to.
    static func atOnce(_ text: String) -> String { "\u{1b}[?2026h" + text + "\u{1b}[?2026l" }
}
