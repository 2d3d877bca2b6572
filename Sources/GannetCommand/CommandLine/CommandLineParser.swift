/// Turns words, environment and a configuration file into one command's arguments, by the table alone.
struct CommandLineParser: Sendable {
    let root: CommandSpec
    /// `GANNET_` makes `GANNET_MAX_BODY` stand in for `--max-body`.
    let environmentPrefix: String
    var habits = Habits()

    /// Finds and reads the configuration file: the one of this name, or else the usual one. Nil where there is none.
    typealias FindConfiguration = (String?) throws(UsageError) -> (path: String, bytes: [UInt8])?

    enum Outcome: Sendable {
        case command(Arguments)
        /// The text for standard output.
        case help(String)
        case version
    }

    /// - Parameters:
    ///   - words: Without the program's name.
    ///   - environment: An empty variable counts as unset.
    ///   - width: Columns for the lines of help.
    func parse(
        _ words: [String], environment: [String: String], configuration find: FindConfiguration = { _ in nil }, width: Int = 80
    ) throws(UsageError) -> Outcome {
        var scan = WordScan(self)
        do {
            if let early = try scan.read(words) { return early == .version ? .version : help(scan, width) }
        } catch {
            // Someone who asks for help as well as mistyping wants help.
            if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) { return help(scan, width) }
            throw error
        }
        guard scan.arguments.spec.subcommands.isEmpty else { return help(scan, width) }
        try scan.checkPlaces()
        try scan.take(environment: environment)
        if let file = try configuration(for: scan.arguments, find) { try scan.take(file) }
        try scan.checkValues()
        try scan.checkWords()
        return .command(scan.arguments)
    }

    private func configuration(for command: Arguments, _ find: FindConfiguration) throws(UsageError) -> ConfigurationFile? {
        guard command.spec.flags.contains(where: { $0.name == FlagEntry.configurationName }) else { return nil }
        let named = command.given[FlagEntry.configurationName]?.last?.text
        guard let (path, bytes) = try find(named) else { return nil }
        return try ConfigurationFile(path: path, bytes: bytes, root: root)
    }

    /// The options of a command as variables and a configuration file set them. Each value is one setting.
    func settings(
        of words: [String], environment: [String: String], configuration: ConfigurationFile?
    ) throws(UsageError) -> [Setting] {
        var scan = WordScan(self)
        guard try scan.read(words) == nil, scan.arguments.given.isEmpty, scan.arguments.positionals.isEmpty else {
            throw UsageError("Name a command alone, such as 'run' or 'batch wait'.")
        }
        guard scan.arguments.spec.subcommands.isEmpty else {
            throw UsageError("\(Sentence.quoted(words.joined(separator: " "))) is a group of commands. Name one of them.")
        }
        try scan.take(environment: environment)
        if let configuration { try scan.take(configuration) }
        try scan.checkValues()
        return scan.arguments.spec.flags.filter(\.isSettable).flatMap { entry in
            scan.arguments.given[entry.name].map { values in values.map { Setting(entry, $0) } } ?? [Setting(entry, nil)]
        }
    }

    /// The command at `path`, for help and tests.
    func help(for path: [String], width: Int = 80) -> String? {
        var spec = root
        for name in path {
            guard let next = spec.subcommands.first(where: { $0.name == name }) else { return nil }
            spec = next
        }
        return HelpText(path: [root.name] + path, spec: spec, environmentPrefix: environmentPrefix, width: width).text
    }

    private func help(_ scan: WordScan, _ width: Int) -> Outcome {
        let (path, spec) = (scan.arguments.path, scan.arguments.spec)
        return .help(HelpText(path: path, spec: spec, environmentPrefix: environmentPrefix, width: width).text)
    }
}

/// A value of an option, and where it is from. An option with several values has as many settings.
struct Setting: Sendable, Equatable {
    let option: String
    /// Without control characters and secrets. Nil where the option has neither a value nor a default.
    let value: String?
    /// Nil for the default.
    let origin: Arguments.Origin?

    private static let longest = 1000

    init(_ entry: FlagEntry, _ given: Arguments.Given?) {
        option = entry.name
        origin = given?.origin
        let text = given?.text ?? entry.defaultText ?? (entry.value == nil ? "false" : nil)
        value = text.map { entry.secrecy == .whole ? "•••" : Sentence.shown($0, limit: Self.longest) }
    }
}
