/// A command line that cannot be followed: what is wrong, how the command is used, and where to read more.
struct UsageError: Error, Sendable, Equatable {
    let message: String
    /// The use of the option that the error is about.
    let help: String?
    /// Nil as long as only a value is judged, before it is known which command it belongs to.
    let usage: String?
    /// The command whose `--help` tells more.
    let command: String?

    /// Why a text is not a value of the wanted type: the second half of a sentence, such as "use a whole number.".
    init(_ message: String) {
        self.message = message
        (help, usage, command) = (nil, nil, nil)
    }

    init(_ message: String, path: [String], spec: CommandSpec, help: String?) {
        self.message = message
        self.help = help
        usage = HelpText.usage(path: path, spec: spec)
        command = path.joined(separator: " ")
    }

    /// The lines for standard error, without the last line break.
    var text: String {
        var lines = ["Error: \(message)"]
        if let help { lines.append("Help:  \(help)") }
        if let usage { lines.append("Usage: \(usage)") }
        if let command { lines.append("  See '\(command) --help' for more information.") }
        return lines.joined(separator: "\n")
    }
}
