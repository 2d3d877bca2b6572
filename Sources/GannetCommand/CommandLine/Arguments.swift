/// The words and options of one command, checked against the table and read as typed values through it.
package struct Arguments: Sendable {
    /// Where a value came from, for error texts and for "the flag wins".
    package enum Origin: Sendable, Hashable {
        case option
        case variable(String)
        case file(path: String, line: Int)

        /// The higher one wins.
        package var rank: Int {
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
    package let path: [String]
    package let positionals: [String]
    /// The configuration file that was read for the command.
    package let configuration: ConfigurationFile?
    let spec: CommandSpec
    let given: [String: [Given]]

    /// The word of a command that takes exactly one (`Positional.isSingle`).
    package var single: String {
        guard let word = positionals.first else { preconditionFailure("\(path) was let pass without the one word that it takes") }
        return word
    }

    package func isSet(_ toggle: Toggle) -> Bool {
        given[toggle.entry.name]?.last?.text == "true"
    }

    /// Nil when it was given nowhere.
    package func origin(of entry: FlagEntry) -> Origin? {
        given[entry.name]?.last?.origin
    }

    /// The value, or the default, or nil.
    package func optional<Value>(_ flag: Flag<Value>) throws(UsageError) -> Value? {
        guard let last = given[flag.entry.name]?.last else {
            guard let text = flag.entry.defaultText else { return nil }
            return try read(Given(text: text, origin: .option), as: flag)
        }
        return try read(last, as: flag)
    }

    /// The value of an option that has a default or is required.
    package func require<Value>(_ flag: Flag<Value>) throws(UsageError) -> Value {
        guard let value = try optional(flag) else {
            throw usageError("Missing expected argument '\(flag.entry.synopsis)'", about: flag.entry)
        }
        return value
    }

    /// Every value of a repeatable option, in order.
    package func all<Value>(_ flag: Flag<Value>) throws(UsageError) -> [Value] {
        var values: [Value] = []
        for one in given[flag.entry.name] ?? [] {
            values.append(try read(one, as: flag))
        }
        return values
    }

    /// An error about this command's use that only the command itself can notice.
    package func usageError(_ message: String, about entry: FlagEntry? = nil) -> UsageError {
        UsageError(message, path: path, spec: spec, help: entry?.usage)
    }

    private func read<Value>(_ one: Given, as flag: Flag<Value>) throws(UsageError) -> Value {
        do {
            return try flag.type.parse(one.text)
        } catch {
            throw UsageError(one, of: flag.entry, because: error, path: path, spec: spec)
        }
    }
}
