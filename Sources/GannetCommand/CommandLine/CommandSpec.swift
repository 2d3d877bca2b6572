/// A command as the table knows it: its words, its options, its sub-commands, and its work.
struct CommandSpec: Sendable {
    typealias Run = @Sendable (Arguments) async throws -> ExitStatus

    let name: String
    let summary: String
    let discussion: String
    let positional: Positional?
    /// `--help` and `--version` are everywhere and not listed here.
    let flags: [FlagEntry]
    /// The names of the options that help shows before all others, in this order.
    let mostUsed: [String]
    let subcommands: [CommandSpec]
    /// Works, but is not listed.
    let isHidden: Bool
    /// Tables below the options.
    let notes: [HelpNote]
    /// Command lines to copy, each with a sentence that says what it does.
    let examples: KeyValuePairs<String, String>
    let run: Run

    init(
        _ name: String, summary: String, discussion: String = "", positional: Positional? = nil, flags: [FlagEntry] = [],
        mostUsed: [String] = [], subcommands: [CommandSpec] = [], isHidden: Bool = false, notes: [HelpNote] = [],
        examples: KeyValuePairs<String, String> = [:], run: @escaping Run = notBuiltIn
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.positional = positional
        self.flags = flags
        self.mostUsed = mostUsed
        self.subcommands = subcommands
        self.isHidden = isHidden
        self.notes = notes
        self.examples = examples
        self.run = run
        for name in mostUsed {
            precondition(flags.contains { $0.name == name }, "'\(self.name)' has no option '--\(name)' that could be its most used.")
        }
    }

    private static let notBuiltIn: Run = { arguments in
        throw CommandFailure(.defect, "The command '\(arguments.path.joined(separator: " "))' is listed but not built in.")
    }

    /// Every option the command answers to.
    var allFlags: [FlagEntry] { flags + [.version, .help] }

    var shownCommands: [CommandSpec] { subcommands.filter { !$0.isHidden } }

    /// The options that help shows, the most used first.
    var shownFlags: [FlagEntry] {
        let shown = allFlags.filter { !$0.isHidden }
        return mostUsed.compactMap { name in shown.first { $0.name == name } } + shown.filter { !mostUsed.contains($0.name) }
    }

    /// The options under their headings, without empty ones.
    var sections: [(section: FlagSection, flags: [FlagEntry])] {
        FlagSection.allCases.map { section in
            (section, shownFlags.filter { (mostUsed.contains($0.name) ? .mostUsed : $0.section) == section })
        }.filter { !$0.flags.isEmpty }
    }

    /// A command and the words that lead to it, the program's name first.
    struct Listed: Sendable {
        let path: [String]
        let spec: CommandSpec

        /// As one types it.
        var name: String { path.joined(separator: " ") }
    }

    /// This command and all below it that help shows, each before its own.
    var listed: [Listed] { listed(below: []) }

    private func listed(below path: [String]) -> [Listed] {
        let own = path + [name]
        return [Listed(path: own, spec: self)] + shownCommands.flatMap { $0.listed(below: own) }
    }
}

/// A table of its own in a command's help, such as the exit statuses.
struct HelpNote: Sendable {
    let title: String
    let rows: [(label: String, text: String)]

    init(_ title: String, _ rows: [(label: String, text: String)]) {
        self.title = title
        self.rows = rows
    }
}

/// The words of a command that are not options: any number of one kind, or exactly one.
struct Positional: Sendable {
    let placeholder: String
    let summary: String
    let completion: Completion
    let isSingle: Bool

    init(_ placeholder: String, completion: Completion = .none, isSingle: Bool = false, _ summary: String) {
        self.placeholder = placeholder
        self.isSingle = isSingle
        self.completion = completion
        self.summary = summary
    }
}
