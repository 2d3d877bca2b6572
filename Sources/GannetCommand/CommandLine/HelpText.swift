/// A command's `--help`, made from its row of the table.
struct HelpText {
    let path: [String]
    let spec: CommandSpec
    let environmentPrefix: String
    private let width: Int

    /// - Parameter width: Lines break between words to fit. A terminal of a few columns gets lines that it has to break itself.
    init(path: [String], spec: CommandSpec, environmentPrefix: String, width: Int) {
        self.path = path
        self.spec = spec
        self.environmentPrefix = environmentPrefix
        self.width = min(max(width, 40), 120)
    }

    /// Where the explanations begin.
    private var column: Int { width < 60 ? 8 : 26 }

    static func usage(path: [String], spec: CommandSpec) -> String {
        var words = [path.joined(separator: " ")]
        words += spec.flags.filter { $0.isRequired && !$0.isHidden }.map(\.synopsis)
        words.append("[<options>]")
        if let positional = spec.positional {
            words.append(positional.isSingle ? "<\(positional.placeholder)>" : "[<\(positional.placeholder)> ...]")
        }
        if !spec.subcommands.isEmpty { words.append("<subcommand>") }
        return words.joined(separator: " ")
    }

    var text: String {
        var parts = [Self.wrapped("OVERVIEW: \(spec.summary)", width: width)]
        if !spec.discussion.isEmpty { parts.append(Self.wrapped(spec.discussion, width: width)) }
        parts.append("USAGE: " + Self.wrapped(Self.usage(path: path, spec: spec), indent: 7, width: width).dropFirst(7))
        if let positional = spec.positional {
            parts.append(section("ARGUMENTS", [("<\(positional.placeholder)>", positional.summary)]))
        }
        for (heading, flags) in spec.sections { parts.append(section(heading.rawValue, flags.map { ($0.label, $0.explanation) })) }
        if !spec.shownCommands.isEmpty {
            parts.append(section("SUBCOMMANDS", spec.shownCommands.map { ($0.name, $0.summary) }))
            let words = path.prefix(1) + ["help"] + path.dropFirst() + ["<subcommand>"]
            parts.append("  See '\(words.joined(separator: " "))' for detailed help.")
        }
        for note in spec.notes { parts.append(section(note.title, note.rows)) }
        if let example = spec.flags.first(where: { !$0.isHidden && $0.hasVariable }) {
            let variable = example.variable(prefix: environmentPrefix)
            let names = spec.flags.filter { !$0.isHidden && !$0.hasVariable }.map { "'--\($0.name)'" }
            let others = names.isEmpty ? "" : " but " + Sentence.all(of: names)
            let sentence =
                "Every option\(others) has an environment variable, such as \(variable) for '--\(example.name)'; the option wins."
            parts.append(Self.wrapped(sentence, width: width))
        }
        if !spec.examples.isEmpty {
            let examples = spec.examples.map { "  \($0.key)\n" + Self.wrapped($0.value, indent: 6, width: width) }
            parts.append((["EXAMPLES:"] + examples).joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n")
    }

    private func section(_ title: String, _ rows: [(label: String, text: String)]) -> String {
        ([title + ":"] + rows.map(row)).joined(separator: "\n")
    }

    private func row(label: String, text: String) -> String {
        let start = "  " + label
        let body = Self.wrapped(text, indent: column, width: width)
        guard start.count < column - 1 else { return start + "\n" + body }
        return start + body.dropFirst(start.count)
    }

    /// The text in lines that break between words. A word longer than a line stays whole.
    static func wrapped(_ text: String, indent: Int = 0, width: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { margin + $0 }
        return lines.joined(separator: "\n").wrapped(to: width, indent: indent)
    }
}
