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

    package var shownCommands: [CommandSpec] { subcommands.filter { $0.visibility == .shown } }

    /// The options that help shows.
    package var shownFlags: [FlagEntry] { allFlags.filter { !$0.isHidden } }
}

extension FlagEntry {
    /// What a shell may offer for its value; nil for one that takes none.
    var valueCompletion: Completion? {
        switch form {
        case .toggle: nil
        case .value(_, let completion, _): completion
        }
    }

    /// As it is typed: `--input`, `-i`.
    var spellings: [String] { ["--\(name)"] + (short.map { ["-\($0)"] } ?? []) }
}
