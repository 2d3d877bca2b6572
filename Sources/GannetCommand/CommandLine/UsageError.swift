/// A command line that cannot be followed: what is wrong, how the command is used, and where to read more.
package struct UsageError: Error, Sendable, Equatable {
    package let message: String
    /// The use of the option that the error is about.
    package let help: String?
    /// Nil as long as only a value is judged, before it is known which command it belongs to.
    package let usage: String?
    /// The command whose `--help` tells more.
    package let command: String?

    /// Why a text is not a value of the wanted type: the second half of a sentence, such as "use a whole number.".
    package init(_ message: String) {
        self.message = message
        (help, usage, command) = (nil, nil, nil)
    }

    init(_ message: String, path: [String], spec: CommandSpec, help: String? = nil) {
        self.message = message
        self.help = help
        usage = HelpText.usage(path: path, spec: spec)
        command = path.joined(separator: " ")
    }

    /// Places what a value's type said about it: the option or variable that has the value, and the command that was meant.
    init(_ given: Arguments.Given, of entry: FlagEntry, because error: any Error, path: [String], spec: CommandSpec) {
        let value = entry.secrecy == .none ? "The value \(Sentence.quoted(given.text))" : "The value"
        let place =
            switch given.origin {
            case .option: ""
            case .variable(let name): " of the environment variable \(name)"
            case .file(let path, let line): " in line \(line) of the configuration file \(Sentence.quoted(path))"
            }
        let reason = (error as? UsageError)?.message ?? "\(error)"
        self.init("\(value)\(place) is invalid for '\(entry.synopsis)': \(reason)", path: path, spec: spec, help: entry.usage)
    }

    /// The lines for standard error, without the last line break.
    package var text: String {
        var lines = ["Error: \(message)"]
        if let help { lines.append("Help:  \(help)") }
        if let usage { lines.append("Usage: \(usage)") }
        if let command { lines.append("  See '\(command) --help' for more information.") }
        return lines.joined(separator: "\n")
    }
}
