/// One pass over a command line: which command, which options, which words.
struct WordScan {
    /// A request that is answered before the rest of the words is looked at. Help is about the command at `path`.
    enum Early {
        case help
        case version
    }

    private(set) var path: [String]
    private(set) var spec: CommandSpec
    private(set) var positionals: [String] = []
    private(set) var given: [String: [Arguments.Given]] = [:]
    private var rest: ArraySlice<String> = []
    private let root: CommandSpec
    private let habits: Habits

    init(root: CommandSpec, habits: Habits = Habits()) {
        path = [root.name]
        spec = root
        self.root = root
        self.habits = habits
    }

    mutating func read(_ words: [String]) throws(UsageError) -> Early? {
        rest = words[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            if word == "--", !optionsEnded {
                optionsEnded = true
            } else if optionsEnded || word == "-" || !word.hasPrefix("-") {
                if spec.subcommands.isEmpty {
                    positionals.append(word)
                } else if word == "version", path.count == 1 {
                    return try finish(.version)
                } else if word == "help", path.count == 1 {
                    return try finish(.help)
                } else {
                    try descend(to: word)
                }
            } else if let early = try word.hasPrefix("--") ? long(word) : cluster(word) {
                return early
            }
        }
        return nil
    }

    /// Checks the words behind `version` or `help`: options, and behind `help` the names of a command.
    private mutating func finish(_ early: Early) throws(UsageError) -> Early {
        while let word = rest.popFirst() {
            if word == "--" { continue }
            if word.hasPrefix("--") {
                if let other = try long(word) { return other }
            } else if word.hasPrefix("-"), word != "-" {
                if let other = try cluster(word) { return other }
            } else if early == .help, !spec.subcommands.isEmpty {
                try descend(to: word)
            } else {
                throw error("Unexpected argument \(Sentence.quoted(word)).")
            }
        }
        return early
    }

    private mutating func descend(to name: String) throws(UsageError) {
        guard let next = spec.subcommands.first(where: { $0.name == name }) else {
            if path.count == 1, let advice = habits.advice(on: name) { throw error("Unknown command \(Sentence.quoted(name)). \(advice)") }
            throw error("Unknown command \(Sentence.quoted(name)).\(Sentence.didYouMean(name, among: spec.shownCommands.map(\.name)))")
        }
        path.append(name)
        spec = next
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
            if case .value = entry.form, !letters.isEmpty {
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
        switch entry.form {
        case .toggle:
            guard inline == nil else { throw error("The option '\(name)' takes no value.", about: entry) }
            if entry.name == FlagEntry.help.name { return .help }
            if entry.name == FlagEntry.version.name { return .version }
            try add("true", to: entry)
        case .value(let placeholder, _, _):
            if let inline {
                try add(inline, to: entry)
            } else if let next = rest.first, next == "-" || !next.hasPrefix("-") || Self.isNegativeNumber(next) {
                rest.removeFirst()
                try add(next, to: entry)
            } else {
                throw error("Missing value for '\(name) <\(placeholder)>'.", about: entry)
            }
        }
        return nil
    }

    /// No option is called by a digit, so `-1` is meant as a value.
    private static func isNegativeNumber(_ word: String) -> Bool { word.dropFirst().utf8.first.map { 0x30...0x39 ~= $0 } ?? false }

    private mutating func add(_ text: String, to entry: FlagEntry) throws(UsageError) {
        let value = Arguments.Given(text: text, origin: .option)
        if case .value = entry.form, !entry.isRepeatable, given[entry.name] != nil {
            throw error("The option '\(entry.synopsis)' can be given once.", about: entry)
        }
        given[entry.name, default: []].append(value)
    }

    func error(_ message: String, about entry: FlagEntry? = nil) -> UsageError {
        UsageError(message, path: path, spec: spec, help: entry?.usage)
    }

    private func advice(on option: String) -> String? { habits.advice(on: option, in: spec, root: root).map { " " + $0 } }
}

extension WordScan {
    /// Options given before the command's name must be options of that command too.
    func checkPlaces() throws(UsageError) {
        for name in given.keys.sorted() where !spec.flags.contains(where: { $0.name == name }) {
            throw error("The option '--\(name)' does not apply to '\(path.joined(separator: " "))'.")
        }
    }

    mutating func take(environment: [String: String], prefix: String) throws(UsageError) {
        for entry in spec.flags where entry.hasVariable && given[entry.name] == nil {
            let variable = entry.variable(prefix: prefix)
            guard let text = environment[variable], !text.isEmpty else { continue }
            let texts: [String]
            switch entry.form {
            case .toggle:
                texts = [text]
            case .value:
                texts = entry.isRepeatable ? text.split(separator: entry.separator).map(String.init) : [text]
            }
            try take(texts.map { Arguments.Given(text: $0, origin: .variable(variable)) }, for: entry)
        }
    }

    /// Takes the options that are given neither on the command line nor in the environment.
    mutating func take(_ file: ConfigurationFile) throws(UsageError) {
        for entry in spec.flags where entry.hasVariable && given[entry.name] == nil {
            let lines = try file.lines(of: entry, for: path.dropFirst().joined(separator: " "))
            guard !lines.isEmpty else { continue }
            try take(lines.map { Arguments.Given(text: $0.value, origin: .file(path: file.path, line: $0.number)) }, for: entry)
        }
    }

    private mutating func take(_ values: [Arguments.Given], for entry: FlagEntry) throws(UsageError) {
        guard case .toggle = entry.form else {
            given[entry.name] = values
            return
        }
        var truths: [Arguments.Given] = []
        for value in values { truths.append(Arguments.Given(text: try truth(of: value, entry), origin: value.origin)) }
        given[entry.name] = truths
    }

    private func truth(of value: Arguments.Given, _ entry: FlagEntry) throws(UsageError) -> String {
        switch value.text.lowercased() {
        case "1", "true", "yes", "on": return "true"
        case "0", "false", "no", "off": return "false"
        default: throw UsageError(value, of: entry, because: UsageError("use 'true' or 'false'."), path: path, spec: spec)
        }
    }

    /// Every value is read once here, so that no option is left unchecked because a command happens not to look at it.
    func checkValues() throws(UsageError) {
        for entry in spec.flags {
            guard case .value(_, _, let check) = entry.form else { continue }
            for one in given[entry.name] ?? [] {
                do {
                    try check(one.text)
                } catch {
                    throw UsageError(one, of: entry, because: error, path: path, spec: spec)
                }
            }
        }
    }

    /// The command has the options and words that it needs, and no word too many.
    func checkWords() throws(UsageError) {
        for entry in spec.flags where entry.isRequired && given[entry.name] == nil {
            throw error("Missing expected argument '\(entry.synopsis)'.", about: entry)
        }
        if let positional = spec.positional {
            guard positional.isSingle else { return }
            if positionals.isEmpty {
                let name = "<\(positional.placeholder)>"
                throw UsageError("Missing expected argument '\(name)'.", path: path, spec: spec, help: "\(name)  \(positional.summary)")
            }
        }
        let positionals = positionals.dropFirst(spec.positional == nil ? 0 : 1)
        guard let first = positionals.first else { return }
        if positionals.count == 1 { throw error("Unexpected argument \(Sentence.quoted(first)).") }
        let shown = positionals.prefix(3).map { Sentence.quoted($0) }.joined(separator: ", ")
        throw error("\(positionals.count) unexpected arguments: \(shown)\(positionals.count > 3 ? ", …" : "").")
    }
}
