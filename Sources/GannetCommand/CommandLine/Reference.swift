/// All commands and options as a page of Markdown, with their examples.
struct Reference {
    private let root: CommandSpec
    private let environmentPrefix: String

    init(_ parser: CommandLineParser) { (root, environmentPrefix) = (parser.root, parser.environmentPrefix) }

    /// An option that so many commands have in the same words stands once, in a table of its own.
    private static let fewestShared = 2

    var text: String {
        let commands = root.listed
        let all = commands.flatMap { ownFlags($0).map(row) }
        let uses = all.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        var shared: [String] = []
        for row in all where uses[row, default: 0] >= Self.fewestShared && !shared.contains(row) { shared.append(row) }
        return """
            # The commands of \(root.name)

            Made from the program's own table by `\(root.name) reference`; the next one overwrites this page. Most options can also be set by
            the environment variable beside them; the option wins.

            \(commands.map { text(of: $0, shared: Set(shared)) }.joined(separator: "\n"))
            ## Shared options

            These options mean the same in all commands that name them.

            \((Self.head + shared).joined(separator: "\n"))

            """
    }

    private static let head = ["| option | default | | variable |", "| --- | --- | --- | --- |"]

    /// The options of every command stand once, at the top.
    private func ownFlags(_ listed: CommandSpec.Listed) -> [FlagEntry] {
        listed.spec.shownFlags.filter { $0.section != .general || listed.path.count == 1 }
    }

    private func text(of listed: CommandSpec.Listed, shared: Set<String>) -> String {
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
        let flags = ownFlags(listed)
        let rows = flags.map(row).filter { !shared.contains($0) }
        if !rows.isEmpty { lines += Self.head + rows + [""] }
        let others = flags.filter { shared.contains(row($0)) }.map { "--\($0.name)" }
        if !others.isEmpty { lines += ["And these [shared options](#shared-options): `\(others.joined(separator: " "))`.", ""] }
        for note in spec.notes {
            lines += ["| \(note.title.lowercased()) | |", "| --- | --- |"]
            lines += note.rows.map { "| \($0.label) | \(Self.escaped($0.text)) |" }
            lines.append("")
        }
        for example in spec.examples { lines += [example.value, "", "```sh", example.key, "```", ""] }
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
