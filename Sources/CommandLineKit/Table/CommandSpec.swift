/// A command as the table knows it: its words, its options and its sub-commands.
package struct CommandSpec: Sendable {
    package enum Visibility: Sendable {
        case shown
        /// Works, but is not listed.
        case hidden
        /// Refused in this version.
        case later
    }

    package let name: String
    package let summary: String
    package let discussion: String
    package let positional: Positional?
    /// `--help` and `--version` are everywhere and not listed here.
    package let flags: [FlagEntry]
    package let subcommands: [CommandSpec]
    package let visibility: Visibility
    /// What help says below the options.
    package let notes: [HelpNote]

    package init(
        _ name: String, summary: String, discussion: String = "", positional: Positional? = nil, flags: [FlagEntry] = [],
        subcommands: [CommandSpec] = [], visibility: Visibility = .shown, notes: [HelpNote] = []
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.positional = positional
        self.flags = flags
        self.subcommands = subcommands
        self.visibility = visibility
        self.notes = notes
    }

    /// A command that a later version will know.
    package static func later(_ name: String) -> CommandSpec {
        CommandSpec(name, summary: "", visibility: .later)
    }

    /// Every option the command answers to.
    package var allFlags: [FlagEntry] { flags + [.version, .help] }
}

/// A table of its own in a command's help, such as the exit statuses.
package struct HelpNote: Sendable {
    package let title: String
    package let rows: [(label: String, text: String)]

    package init(_ title: String, _ rows: [(label: String, text: String)]) {
        self.title = title
        self.rows = rows
    }
}

/// The words of a command that are not options: any number of one kind, or exactly one.
package struct Positional: Sendable {
    package let placeholder: String
    package let summary: String
    package let completion: Completion
    package let isSingle: Bool

    package init(_ placeholder: String, completion: Completion = .none, isSingle: Bool = false, _ summary: String) {
        self.placeholder = placeholder
        self.isSingle = isSingle
        self.completion = completion
        self.summary = summary
    }
}
