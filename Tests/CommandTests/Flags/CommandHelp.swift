/// A command as the program's own help describes it, so that a test knows of every command there is.
struct CommandHelp: Sendable, CustomStringConvertible {
    let path: [String]
    let text: String

    var description: String { (["gannet"] + path).joined(separator: " ") }

    /// The program's commands, without groups of them.
    static func all(_ program: Program) async throws -> [CommandHelp] { try await all(program, below: []) }

    /// The same with the groups, each before its commands.
    static func allAndGroups(_ program: Program) async throws -> [CommandHelp] {
        try await Array(all(program, below: [], withGroups: true).dropFirst())
    }

    private static func all(_ program: Program, below path: [String], withGroups: Bool = false) async throws -> [CommandHelp] {
        let help = CommandHelp(path: path, text: try await program.run(path + ["--help"]).output)
        let names = help.labels(of: "SUBCOMMANDS")
        if names.isEmpty { return [help] }
        var found = withGroups ? [help] : []
        for name in names { found += try await all(program, below: path + [name], withGroups: withGroups) }
        return found
    }

    /// The labels below a heading.
    private func labels(of heading: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: heading + ":") else { return [] }
        return lines[(start + 1)...].prefix { !$0.isEmpty }.compactMap { line in
            guard line.hasPrefix("  "), !line.hasPrefix("   ") else { return nil }
            return line.split(separator: " ").first.map(String.init)
        }
    }

    /// An option that takes a value.
    var optionWithValue: String? {
        text.split(separator: "\n").lazy.compactMap { line in
            let words = line.split(separator: " ")
            guard line.hasPrefix("  "), let option = words.firstIndex(where: { $0.hasPrefix("--") }), option + 1 < words.count,
                words[option + 1].hasPrefix("<"), words[option + 1].hasSuffix(">")
            else { return nil }
            return String(words[option])
        }.first
    }

    var takesRedis: Bool { text.contains("  --redis <url>") }

    /// Words with which it can be run: what its usage says is needed, a value for its positional words, and a yes to whatever it asks.
    func words(folder: String) -> [String] {
        let usage = text.split(separator: "\n").first { $0.hasPrefix("USAGE: ") } ?? ""
        var words = path
        for word in usage.split(separator: " ").dropFirst(2 + path.count) {
            if word.hasPrefix("--") {
                words.append(String(word))
            } else if word.hasPrefix("<") || (word.hasPrefix("[<") && word != "[<options>]") {
                words.append(Self.value(for: word.filter { $0.isLetter || $0 == "-" }, folder: folder))
            }
        }
        if text.contains(" --yes ") { words.append("--yes") }
        if path == ["hosts", "set"] { words += ["--limit", "1"] }
        if path == ["jobs", "delete"] { words += ["--state", "dead"] }
        return words
    }

    private static func value(for placeholder: String, folder: String) -> String {
        switch placeholder {
        case "dir": folder
        case "url", "picture": "http://127.0.0.1:9/"
        case "shell": "bash"
        case "state": "dead"
        default: "1"
        }
    }
}
