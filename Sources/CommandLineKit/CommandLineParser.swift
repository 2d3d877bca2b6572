/// Turns words and environment into one command's arguments, by the table alone.
package struct CommandLineParser: Sendable {
    package let root: CommandSpec
    /// `GANNET_` makes `GANNET_MAX_BODY` stand in for `--max-body`.
    package let environmentPrefix: String
    private let habits: Habits

    package init(root: CommandSpec, environmentPrefix: String, habits: Habits = Habits()) {
        self.root = root
        self.environmentPrefix = environmentPrefix
        self.habits = habits
    }

    package enum Outcome: Sendable {
        case command(Arguments)
        /// The text for standard output.
        case help(String)
        case version
    }

    /// - Parameters:
    ///   - words: Without the program's name.
    ///   - environment: An empty variable counts as unset.
    ///   - width: Columns for the lines of help.
    package func parse(_ words: [String], environment: [String: String], width: Int = 80) throws(UsageError) -> Outcome {
        var scan = WordScan(root: root, habits: habits)
        do {
            if let early = try scan.read(words) {
                return early == .version ? .version : help(scan.path, scan.spec, width)
            }
        } catch {
            // Someone who asks for help as well as mistyping wants help.
            if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
                return help(scan.path, scan.spec, width)
            }
            throw error
        }
        guard scan.spec.subcommands.isEmpty else { return help(scan.path, scan.spec, width) }
        try scan.checkPlaces()
        try scan.take(environment: environment, prefix: environmentPrefix)
        try scan.checkValues()
        return .command(Arguments(path: scan.path, positionals: scan.positionals, spec: scan.spec, given: scan.given))
    }

    /// The command at `path`, for help and tests.
    package func help(for path: [String], width: Int = 80) -> String? {
        var spec = root
        for name in path {
            guard let next = spec.subcommands.first(where: { $0.name == name }) else { return nil }
            spec = next
        }
        return HelpText(path: [root.name] + path, spec: spec, environmentPrefix: environmentPrefix, width: width).text
    }

    private func help(_ path: [String], _ spec: CommandSpec, _ width: Int) -> Outcome {
        .help(HelpText(path: path, spec: spec, environmentPrefix: environmentPrefix, width: width).text)
    }
}
