/// All commands and options as a page of Markdown, with their examples.
package struct Reference {
    private let root: CommandSpec
    private let environmentPrefix: String

    package init(_ parser: CommandLineParser) {
        root = parser.root
        environmentPrefix = parser.environmentPrefix
    }

    package var text: String {
        let commands = root.listed.map(command).joined(separator: "\n")
        return """
            # The commands of \(root.name)

            Made from the program's own table by `\(root.name) reference`; the next one overwrites this page. Most options can also be set by
            the environment variable beside them; the option wins.

            \(commands)
            """
    }

    private func command(_ listed: CommandSpec.Listed) -> String {
        let spec = listed.spec
        var lines = ["## \(listed.name)", "", spec.summary, ""]
        if !spec.discussion.isEmpty { lines += [spec.discussion, ""] }
        lines += ["```", HelpText.usage(path: listed.path, spec: spec), "```", ""]
        if let positional = spec.positional { lines += ["`<\(positional.placeholder)>`: \(Self.escaped(positional.summary))", ""] }
        if !spec.shownCommands.isEmpty {
            lines += ["| command | |", "| --- | --- |"]
            lines += spec.shownCommands.map { "| [`\($0.name)`](#\(Self.anchor(listed.path + [$0.name]))) | \(Self.escaped($0.summary)) |" }
            lines.append("")
        }
        // The options of every command stand once, at the top.
        let flags = spec.shownFlags.filter { $0.section != .general || listed.path.count == 1 }
        if !flags.isEmpty {
            lines += ["| option | default | | variable |", "| --- | --- | --- | --- |"]
            lines += flags.map(row)
            lines.append("")
        }
        for note in spec.notes {
            lines += ["| \(note.title.lowercased()) | |", "| --- | --- |"]
            lines += note.rows.map { "| \($0.label) | \(Self.escaped($0.text)) |" }
            lines.append("")
        }
        for example in spec.examples { lines += [example.sentence, "", "```sh", example.line, "```", ""] }
        return lines.joined(separator: "\n")
    }

    private func row(_ flag: FlagEntry) -> String {
        let names = flag.short.map { "`-\($0)`, " } ?? ""
        let standard = flag.isRequired ? "required" : flag.defaultText.map { "`\($0)`" } ?? ""
        let hasVariable = flag.hasVariable && flag.name != FlagEntry.help.name && flag.name != FlagEntry.version.name
        let variable = hasVariable ? "`\(flag.variable(prefix: environmentPrefix))`" : ""
        return "| \(names)`\(flag.synopsis)` | \(standard) | \(Self.escaped(flag.summary)) | \(variable) |"
    }

    private static func anchor(_ path: [String]) -> String { path.joined(separator: "-") }

    private static func escaped(_ text: String) -> String { text.replacing("|", with: "\\|").replacing("<", with: "&lt;") }
}
