/// The words and options of one command, checked against the table and read as typed values through it.
struct Arguments: Sendable {
    /// Where a value came from, for error texts and for "the flag wins".
    enum Origin: Sendable, Hashable {
        case option
        case variable(String)
        case file(path: String, line: Int)

        /// The higher one wins.
        var rank: Int {
            switch self {
            case .option: 3
            case .variable: 2
            case .file: 1
            }
        }
    }

    struct Given: Sendable {
        let text: String
        let origin: Origin
    }

    /// The command's words, the program's name first: `["gannet", "redis", "stop"]`.
    var path: [String]
    var spec: CommandSpec
    var positionals: [String] = []
    /// By the names of options.
    var given: [String: [Given]] = [:]
    /// The configuration file that was read for the command.
    var configuration: ConfigurationFile?

    /// The word of a command that takes exactly one (`Positional.isSingle`).
    var single: String {
        guard let word = positionals.first else { preconditionFailure("\(path) was let pass without the one word that it takes") }
        return word
    }

    func isSet(_ toggle: Toggle) -> Bool { given[toggle.entry.name]?.last?.text == "true" }

    /// Nil when it was given nowhere.
    func origin(of entry: FlagEntry) -> Origin? { given[entry.name]?.last?.origin }

    /// The value, or the default, or nil.
    func optional<Value>(_ flag: Flag<Value>) throws(UsageError) -> Value? {
        let usual = flag.entry.defaultText.map { Given(text: $0, origin: .option) }
        guard let last = given[flag.entry.name]?.last ?? usual else { return nil }
        return try read(last, as: flag)
    }

    /// The value of an option that has a default or is required.
    func require<Value>(_ flag: Flag<Value>) throws(UsageError) -> Value {
        guard let value = try optional(flag) else {
            throw usageError("Missing expected argument '\(flag.entry.synopsis)'", about: flag.entry)
        }
        return value
    }

    /// Every value of a repeatable option, in order.
    func all<Value>(_ flag: Flag<Value>) throws(UsageError) -> [Value] {
        var values: [Value] = []
        for one in given[flag.entry.name] ?? [] { values.append(try read(one, as: flag)) }
        return values
    }

    private func read<Value>(_ one: Given, as flag: Flag<Value>) throws(UsageError) -> Value {
        do { return try flag.type.parse(one.text) } catch { throw invalid(one, of: flag.entry, because: error) }
    }

    /// An error about this command's use.
    func usageError(_ message: String, about entry: FlagEntry? = nil) -> UsageError {
        UsageError(message, path: path, spec: spec, help: entry?.usage)
    }

    /// Places what a value's type said about it: the option or variable that has the value, and the command that was meant.
    func invalid(_ given: Given, of entry: FlagEntry, because error: any Error) -> UsageError {
        let value = entry.secrecy == .none ? "The value \(Sentence.quoted(given.text))" : "The value"
        let place =
            switch given.origin {
            case .option: ""
            case .variable(let name): " of the environment variable \(name)"
            case .file(let path, let line): " in line \(line) of the configuration file \(Sentence.quoted(path))"
            }
        let reason = (error as? UsageError)?.message ?? "\(error)"
        return usageError("\(value)\(place) is invalid for '\(entry.synopsis)': \(reason)", about: entry)
    }
}
