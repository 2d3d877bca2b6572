/// Turns words, environment and a configuration file into one command's arguments, by the table alone.
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

    /// Finds and reads the configuration file: the one of this name, or else the usual one. Nil where there is none.
    package typealias FindConfiguration = (String?) throws(UsageError) -> (path: String, bytes: [UInt8])?

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
    package func parse(
        _ words: [String], environment: [String: String], configuration find: FindConfiguration = { _ in nil }, width: Int = 80
    ) throws(UsageError) -> Outcome {
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
        let file = try configuration(for: scan, find)
        if let file { try scan.take(file) }
        try scan.checkValues()
        try scan.checkWords()
        return .command(
            Arguments(path: scan.path, positionals: scan.positionals, configuration: file, spec: scan.spec, given: scan.given))
    }

    private func configuration(for scan: WordScan, _ find: FindConfiguration) throws(UsageError) -> ConfigurationFile? {
        guard scan.spec.flags.contains(where: { $0.name == FlagEntry.configurationName }) else { return nil }
        let named = scan.given[FlagEntry.configurationName]?.last?.text
        guard let (path, bytes) = try find(named) else { return nil }
        return try ConfigurationFile(path: path, bytes: bytes, root: root)
    }

    /// The options of a command as variables and a configuration file set them. Each value is one setting.
    package func settings(
        of words: [String], environment: [String: String], configuration: ConfigurationFile?
    ) throws(UsageError) -> [Setting] {
        var scan = WordScan(root: root, habits: habits)
        guard try scan.read(words) == nil, scan.given.isEmpty, scan.positionals.isEmpty else {
            throw UsageError("Name a command alone, such as 'run' or 'batch wait'.")
        }
        guard scan.spec.subcommands.isEmpty else {
            throw UsageError("\(Sentence.quoted(words.joined(separator: " "))) is a group of commands. Name one of them.")
        }
        try scan.take(environment: environment, prefix: environmentPrefix)
        if let configuration { try scan.take(configuration) }
        try scan.checkValues()
        return scan.spec.flags.filter(\.isSettable).flatMap { entry in
            scan.given[entry.name].map { values in values.map { Setting(entry, $0) } } ?? [Setting(entry, nil)]
        }
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
