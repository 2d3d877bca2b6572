/// One pass over a command line: which command, which options, which words.
struct WordScan {
    /// A request that is answered before the rest of the words is looked at. Help is about the command at `path`.
    enum Early {
        case help
        case version
    }

    private(set) var arguments: Arguments
    private var rest: ArraySlice<String> = []
    private let parser: CommandLineParser

    init(_ parser: CommandLineParser) {
        self.parser = parser
        arguments = Arguments(path: [parser.root.name], spec: parser.root)
    }

    private var spec: CommandSpec { arguments.spec }
    private var isAtRoot: Bool { arguments.path.count == 1 }

    mutating func read(_ words: [String]) throws(UsageError) -> Early? {
        rest = words[...]
        var optionsEnded = false
        var early: Early?
        while let word = rest.popFirst() {
            if word == "--", !optionsEnded {
                optionsEnded = true
            } else if word.hasPrefix("-"), word != "-", !optionsEnded {
                if let asked = try word.hasPrefix("--") ? long(word) : cluster(word) { return asked }
            } else if early == .version || early == .help && spec.subcommands.isEmpty {
                throw error("Unexpected argument \(Sentence.quoted(word)).")
            } else if spec.subcommands.isEmpty {
                arguments.positionals.append(word)
            } else if early == nil, isAtRoot, word == "version" || word == "help" {
                early = word == "version" ? .version : .help
            } else {
                try descend(to: word)
            }
        }
        return early
    }

    private mutating func descend(to name: String) throws(UsageError) {
        guard let next = spec.subcommands.first(where: { $0.name == name }) else {
            if isAtRoot, let advice = parser.habits.advice(on: name) { throw error("Unknown command \(Sentence.quoted(name)). \(advice)") }
            throw error("Unknown command \(Sentence.quoted(name)).\(Sentence.didYouMean(name, among: spec.shownCommands.map(\.name)))")
        }
        arguments.path.append(name)
        arguments.spec = next
    }

    private mutating func long(_ word: String) throws(UsageError) -> Early? {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let entry = spec.allFlags.first(where: { $0.name == name }) else {
            // Only the name is shown: what follows a '=' may be a secret.
            let names = spec.allFlags.filter { !$0.isHidden }.map(\.name)
            let hint = advice(on: name) ?? Sentence.didYouMean(name, among: names, prefix: "--")
            throw error("Unknown option \(Sentence.quoted("--" + name)).\(hint)")
        }
        return try take(entry, as: "--" + name, inline: parts.count > 1 ? String(parts[1]) : nil)
    }

    /// `-h`, `-i FILE`, `-iFILE`, `-i=FILE`, and several options without values behind one dash.
    private mutating func cluster(_ word: String) throws(UsageError) -> Early? {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let entry = spec.allFlags.first(where: { $0.short == letter }) else {
                throw error("Unknown option \(Sentence.quoted("-\(letter)")).\(advice(on: String(letter)) ?? "")")
            }
            var inline: String?
            if entry.value != nil, !letters.isEmpty {
                inline = String(letters.first == "=" ? letters.dropFirst() : letters)
                letters = ""
            } else if letters.first == "=" {
                inline = String(letters.dropFirst())
                letters = ""
            }
            if let early = try take(entry, as: "-\(letter)", inline: inline) { return early }
        }
        return nil
    }

    private mutating func take(_ entry: FlagEntry, as name: String, inline: String?) throws(UsageError) -> Early? {
        if let value = entry.value {
            if let inline {
                try add(inline, to: entry)
            } else if let next = rest.first, next == "-" || !next.hasPrefix("-") || Self.isNegativeNumber(next) {
                rest.removeFirst()
                try add(next, to: entry)
            } else {
                throw error("Missing value for '\(name) <\(value.placeholder)>'.", about: entry)
            }
            return nil
        }
        guard inline == nil else { throw error("The option '\(name)' takes no value.", about: entry) }
        if entry.name == FlagEntry.help.name { return .help }
        if entry.name == FlagEntry.version.name { return .version }
        try add("true", to: entry)
        return nil
    }

    /// No option is called by a digit, so `-1` is meant as a value.
    private static func isNegativeNumber(_ word: String) -> Bool { word.dropFirst().utf8.first.map { 0x30...0x39 ~= $0 } ?? false }

    private mutating func add(_ text: String, to entry: FlagEntry) throws(UsageError) {
        if entry.value != nil, !entry.isRepeatable, arguments.given[entry.name] != nil {
            throw error("The option '\(entry.synopsis)' can be given once.", about: entry)
        }
        arguments.given[entry.name, default: []].append(Arguments.Given(text: text, origin: .option))
    }

    private func error(_ message: String, about entry: FlagEntry? = nil) -> UsageError { arguments.usageError(message, about: entry) }

    private func advice(on option: String) -> String? {
        parser.habits.advice(on: option, in: spec, root: parser.root).map { " " + $0 }
    }
}

extension WordScan {
    /// Options given before the command's name must be options of that command too.
    func checkPlaces() throws(UsageError) {
        for name in arguments.given.keys.sorted() where !spec.flags.contains(where: { $0.name == name }) {
            throw error("The option '--\(name)' does not apply to '\(arguments.path.joined(separator: " "))'.")
        }
    }

    mutating func take(environment: [String: String]) throws(UsageError) {
        for entry in spec.flags where entry.hasVariable && arguments.given[entry.name] == nil {
            let variable = entry.variable(prefix: parser.environmentPrefix)
            guard let text = environment[variable], !text.isEmpty else { continue }
            let texts = entry.isRepeatable ? text.split(separator: entry.separator).map(String.init) : [text]
            try take(texts.map { Arguments.Given(text: $0, origin: .variable(variable)) }, for: entry)
        }
    }

    /// Takes the options that are given neither on the command line nor in the environment.
    mutating func take(_ file: ConfigurationFile) throws(UsageError) {
        arguments.configuration = file
        for entry in spec.flags where entry.hasVariable && arguments.given[entry.name] == nil {
            let lines = try file.lines(of: entry, for: arguments.path.dropFirst().joined(separator: " "))
            guard !lines.isEmpty else { continue }
            try take(lines.map { Arguments.Given(text: $0.value, origin: .file(path: file.path, line: $0.number)) }, for: entry)
        }
    }

    private mutating func take(_ values: [Arguments.Given], for entry: FlagEntry) throws(UsageError) {
        arguments.given[entry.name] = values
        guard entry.value == nil else { return }
        for (index, value) in values.enumerated() {
            let isTrue = ["1", "true", "yes", "on"].contains(value.text.lowercased())
            guard isTrue || ["0", "false", "no", "off"].contains(value.text.lowercased()) else {
                throw arguments.invalid(value, of: entry, because: UsageError("use 'true' or 'false'."))
            }
            arguments.given[entry.name]?[index] = Arguments.Given(text: isTrue ? "true" : "false", origin: value.origin)
        }
    }

    /// Every value is read once here, so that no option is left unchecked because a command happens not to look at it.
    func checkValues() throws(UsageError) {
        for entry in spec.flags {
            for one in arguments.given[entry.name] ?? [] {
                do { try entry.value?.check(one.text) } catch { throw arguments.invalid(one, of: entry, because: error) }
            }
        }
    }

    /// The command has the options and words that it needs, and no word too many.
    func checkWords() throws(UsageError) {
        for entry in spec.flags where entry.isRequired && arguments.given[entry.name] == nil {
            throw error("Missing expected argument '\(entry.synopsis)'.", about: entry)
        }
        var surplus = arguments.positionals[...]
        if let positional = spec.positional {
            guard positional.isSingle else { return }
            if surplus.popFirst() == nil {
                let name = "<\(positional.placeholder)>"
                let help = "\(name)  \(positional.summary)"
                throw UsageError("Missing expected argument '\(name)'.", path: arguments.path, spec: spec, help: help)
            }
        }
        guard let first = surplus.first else { return }
        if surplus.count == 1 { throw error("Unexpected argument \(Sentence.quoted(first)).") }
        let shown = surplus.prefix(3).map { Sentence.quoted($0) }.joined(separator: ", ")
        throw error("\(surplus.count) unexpected arguments: \(shown)\(surplus.count > 3 ? ", …" : "").")
    }
}
