/// All commands and options as a page for `man`, in roff with the macros of man(7).
struct ManPage {
    private let root: CommandSpec
    private let environmentPrefix: String
    private let version: String
    private let seeAlso: [String]

    /// - Parameter seeAlso: Other pages, such as `curl(1)`.
    init(_ parser: CommandLineParser, version: String, seeAlso: [String]) {
        root = parser.root
        environmentPrefix = parser.environmentPrefix
        self.version = version
        self.seeAlso = seeAlso
    }

    var text: String {
        let name = root.name
        let summary = root.summary.prefix(1).lowercased() + root.summary.dropFirst()
        var lines = [
            ".\\\" Made by '\(name) reference --man'.",
            ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\" \"User Commands\"",
            ".SH NAME", "\(name) \\- " + Self.escaped(summary.hasSuffix(".") ? String(summary.dropLast()) : summary),
            ".SH SYNOPSIS", Self.usage([name], root),
            ".SH DESCRIPTION",
        ]
        lines += Self.paragraphs(root.discussion.isEmpty ? root.summary : root.discussion)
        lines.append(".SH OPTIONS")
        lines += options(of: root, withGeneral: true)
        lines.append(".SH COMMANDS")
        for listed in root.listed.dropFirst() { lines += command(listed) }
        lines.append(".SH ENVIRONMENT")
        lines += environment
        for note in root.notes where note.title != "ENVIRONMENT" { lines += [".SH \(Self.escaped(note.title))"] + Self.rows(note.rows) }
        // A group of commands shows examples of its commands.
        var seen: Set<String> = []
        let examples = root.listed.flatMap(\.spec.examples).filter { seen.insert($0.key).inserted }
        // A heading begins a paragraph by itself.
        if !examples.isEmpty { lines += [".SH EXAMPLES"] + examples.flatMap { Self.example($0.key, $0.value) }.dropFirst() }
        if !seeAlso.isEmpty { lines += [".SH SEE ALSO", seeAlso.map(Self.page).joined(separator: ",\n")] }
        return lines.joined(separator: "\n")
    }

    private var environment: [String] {
        let sentence =
            "Most options can also be set by environment variables: \(environmentPrefix) and the option's name in capitals, with "
        var lines = Self.paragraphs(sentence + "underscores for dashes. An option on the command line wins.")
        if let flag = root.flags.first(where: { !$0.isHidden }) {
            lines += Self.rows([(flag.variable(prefix: environmentPrefix), "Stands for \(flag.synopsis).")])
        }
        for note in root.notes where note.title == "ENVIRONMENT" { lines += Self.rows(note.rows) }
        return lines
    }

    private func command(_ listed: CommandSpec.Listed) -> [String] {
        let spec = listed.spec
        var lines = [".SS \(Self.escaped(listed.name))"] + Self.paragraphs(spec.summary)
        if !spec.discussion.isEmpty { lines += [".PP"] + Self.paragraphs(spec.discussion) }
        lines += [".PP", Self.usage(listed.path, spec)]
        if let positional = spec.positional { lines += Self.rows([("<\(positional.placeholder)>", positional.summary)]) }
        lines += options(of: spec, withGeneral: false)
        for note in spec.notes { lines += [".PP", Self.escaped(note.title.capitalizedFirst) + ":"] + Self.rows(note.rows) }
        return lines
    }

    private func options(of spec: CommandSpec, withGeneral: Bool) -> [String] {
        let sections = spec.sections.filter { withGeneral || $0.section != .general }
        return Self.rows(sections.flatMap(\.flags).map { ($0.label, $0.explanation) })
    }

    private static func rows(_ rows: [(label: String, text: String)]) -> [String] {
        rows.flatMap { row in [".TP", "\\fB\(escaped(row.label))\\fR"] + paragraphs(row.text) }
    }

    private static func example(_ line: String, _ sentence: String) -> [String] {
        [".PP"] + paragraphs(sentence) + [".PP", ".RS 4", ".nf", text(line), ".fi", ".RE"]
    }

    private static func usage(_ path: [String], _ spec: CommandSpec) -> String {
        let words = HelpText.usage(path: path, spec: spec).dropFirst(path.joined(separator: " ").count)
        return "\\fB\(escaped(path.joined(separator: " ")))\\fR\(escaped(String(words)))"
    }

    private static func page(_ reference: String) -> String {
        guard let bracket = reference.firstIndex(of: "(") else { return text(reference) }
        return "\\fB\(escaped(String(reference[..<bracket])))\\fR\(reference[bracket...])"
    }

    /// Each sentence begins a line, as in any source of a man page; a line break in the text becomes one on the page.
    private static func paragraphs(_ text: String) -> [String] {
        let parts = text.split(separator: "\n")
        return parts.enumerated().flatMap { number, part in
            let lines = HelpText.wrapped(String(part).replacing(". ", with: ".\n"), width: 72)
            return (number == 0 ? [] : [".br"]) + lines.split(separator: "\n").map { Self.text(String($0)) }
        }
    }

    /// A line of text. A dot or an apostrophe in front would make a request of it.
    private static func text(_ line: String) -> String {
        let escaped = escaped(line)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\e"
            case "-": "\\-"
            case "'": "\\(aq"
            case "`": "\\(ga"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case _ where scalar.isASCII: String(scalar)
            default: "\\[u" + String(repeating: "0", count: max(0, 4 - hexadecimal(scalar).count)) + hexadecimal(scalar) + "]"
            }
        }.joined()
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16).uppercased() }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
