/// A command line that cannot be followed, as it is shown: what is wrong, how the command is used, where to read more.
package struct UsageError: Error, Sendable {
    package let message: String
    /// What the option is for, when the error is about one.
    package let help: String?
    package let usage: String
    /// The command whose `--help` tells more.
    package let command: String

    init(_ message: String, path: [String], spec: CommandSpec, about entry: FlagEntry? = nil) {
        let help = entry.flatMap { $0.summary.isEmpty ? nil : "\($0.synopsis)  \($0.summary)" }
        self.init(message, path: path, spec: spec, help: help)
    }

    init(_ message: String, path: [String], spec: CommandSpec, help: String?) {
        self.message = message
        self.help = help
        usage = HelpText.usage(path: path, spec: spec)
        command = path.joined(separator: " ")
    }

    /// The lines for standard error, without the last line break.
    package var text: String {
        var lines = ["Error: \(message)"]
        if let help { lines.append("Help:  \(help)") }
        lines.append("Usage: \(usage)")
        lines.append("  See '\(command) --help' for more information.")
        return lines.joined(separator: "\n")
    }
}

extension UsageError {
    static func invalidValue(
        _ given: Arguments.Given, of entry: FlagEntry, because problem: InvalidValue, path: [String], spec: CommandSpec
    ) -> UsageError {
        let value = entry.isSecret ? "The value" : "The value \(Sentence.quoted(given.text))"
        let place =
            switch given.origin {
            case .option: ""
            case .variable(let name): " of the environment variable \(name)"
            }
        return UsageError("\(value)\(place) is invalid for '\(entry.synopsis)': \(problem.reason)", path: path, spec: spec, about: entry)
    }
}
