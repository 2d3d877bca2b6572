/// A command's `--help`, made from its row of the table.
struct HelpText {
    let path: [String]
    let spec: CommandSpec
    let environmentPrefix: String
    var width = 80

    /// Where the explanations begin.
    private static let column = 26

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
        var parts = [wrapped("OVERVIEW: \(spec.summary)", indent: 0)]
        if !spec.discussion.isEmpty { parts.append(wrapped(spec.discussion, indent: 0)) }
        parts.append("USAGE: \(Self.usage(path: path, spec: spec))")
        if let positional = spec.positional {
            parts.append(section("ARGUMENTS", [("<\(positional.placeholder)>", positional.summary)]))
        }
        for heading in FlagSection.allCases {
            let flags = spec.shownFlags.filter { $0.section == heading }
            if !flags.isEmpty { parts.append(section(heading.rawValue, flags.map { (label(of: $0), explanation(of: $0)) })) }
        }
        if !spec.shownCommands.isEmpty {
            parts.append(section("SUBCOMMANDS", spec.shownCommands.map { ($0.name, $0.summary) }))
            let words = path.prefix(1) + ["help"] + path.dropFirst() + ["<subcommand>"]
            parts.append("  See '\(words.joined(separator: " "))' for detailed help.")
        }
        for note in spec.notes { parts.append(section(note.title, note.rows)) }
        if let example = spec.flags.first(where: { !$0.isHidden }) {
            let variable = example.variable(prefix: environmentPrefix)
            let sentence = "Every option has an environment variable, such as \(variable) for '--\(example.name)'; the option wins."
            parts.append(wrapped(sentence, indent: 0))
        }
        return parts.joined(separator: "\n\n")
    }

    private func section(_ title: String, _ rows: [(label: String, text: String)]) -> String {
        ([title + ":"] + rows.map(row)).joined(separator: "\n")
    }

    private func label(of entry: FlagEntry) -> String {
        (entry.short.map { "-\($0), " } ?? "") + entry.synopsis
    }

    private func explanation(of entry: FlagEntry) -> String {
        entry.summary + (entry.defaultText.map { " (default: \($0))" } ?? "")
    }

    private func row(label: String, text: String) -> String {
        let start = "  " + label
        let body = wrapped(text, indent: Self.column)
        guard start.count < Self.column - 1 else { return start + "\n" + body }
        return start + body.dropFirst(start.count)
    }

    private func wrapped(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = margin
            for word in paragraph.split(separator: " ") {
                if line.count > indent, line.count + 1 + word.count > width {
                    lines.append(line)
                    line = margin
                }
                line += (line.count > indent ? " " : "") + word
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }
}
