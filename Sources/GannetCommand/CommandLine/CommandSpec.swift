/// A command as the table knows it: its words, its options and its sub-commands.
package struct CommandSpec: Sendable {
    package enum Visibility: Sendable {
        case shown
        /// Works, but is not listed.
        case hidden
    }

    package let name: String
    package let summary: String
    package let discussion: String
    package let positional: Positional?
    /// `--help` and `--version` are everywhere and not listed here.
    package let flags: [FlagEntry]
    /// The names of the options that help shows before all others, in this order.
    package let mostUsed: [String]
    package let subcommands: [CommandSpec]
    package let visibility: Visibility
    /// Tables below the options.
    package let notes: [HelpNote]
    /// At the end of the help.
    package let examples: [Example]

    package init(
        _ name: String, summary: String, discussion: String = "", positional: Positional? = nil, flags: [FlagEntry] = [],
        mostUsed: [String] = [], subcommands: [CommandSpec] = [], visibility: Visibility = .shown, notes: [HelpNote] = [],
        examples: [Example] = []
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.positional = positional
        self.flags = flags
        self.mostUsed = mostUsed
        self.subcommands = subcommands
        self.visibility = visibility
        self.notes = notes
        self.examples = examples
        for name in mostUsed {
            precondition(flags.contains { $0.name == name }, "'\(self.name)' has no option '--\(name)' that could be its most used.")
        }
    }

    /// Every option the command answers to.
    package var allFlags: [FlagEntry] { flags + [.version, .help] }

    package var shownCommands: [CommandSpec] { subcommands.filter { $0.visibility == .shown } }

    /// The options that help shows, the most used first.
    package var shownFlags: [FlagEntry] {
        let shown = allFlags.filter { !$0.isHidden }
        return mostUsed.compactMap { name in shown.first { $0.name == name } } + shown.filter { !mostUsed.contains($0.name) }
    }

    /// The options under their headings, without empty ones.
    var sections: [(section: FlagSection, flags: [FlagEntry])] {
        FlagSection.allCases.map { section in
            (section, shownFlags.filter { (mostUsed.contains($0.name) ? .mostUsed : $0.section) == section })
        }.filter { !$0.flags.isEmpty }
    }
}

extension CommandSpec {
    /// A command and the words that lead to it, the program's name first.
    package struct Listed: Sendable {
        package let path: [String]
        package let spec: CommandSpec

        /// As one types it.
        package var name: String { path.joined(separator: " ") }
    }

    /// This command and all below it that help shows, each before its own.
    package var listed: [Listed] { listed(below: []) }

    private func listed(below path: [String]) -> [Listed] {
        let own = path + [name]
        return [Listed(path: own, spec: self)] + shownCommands.flatMap { $0.listed(below: own) }
    }
}

/// A command line to copy, and a sentence that says what it does.
package struct Example: Sendable {
    package let line: String
    package let sentence: String

    package init(_ line: String, _ sentence: String) {
        self.line = line
        self.sentence = sentence
    }
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
