/// Options in a file, with their line numbers.
///
/// A line is `name = value`, with an option's name without dashes, or `[command]`, which begins the lines of that command alone. Blank lines, and
/// lines that begin with `#`, say nothing. Everything else is refused, and so are names that no command has. A value is checked when a command
/// takes it, as a variable's is.
struct ConfigurationFile: Sendable {
    struct Line: Sendable {
        let number: Int
        let value: String
    }

    static let mostBytes = 65_536
    private static let longestLine = 8_192

    let path: String
    /// The lines by section and name. The section without a name is for all commands.
    private var sections: [String: [String: [Line]]] = ["": [:]]

    /// - Parameter root: The program, whose commands and options are known.
    init(path: String, bytes: [UInt8], root: CommandSpec) throws(UsageError) {
        self.path = path
        guard bytes.count <= Self.mostBytes else {
            throw UsageError("The configuration file \(Sentence.quoted(path)) has more than \(Self.mostBytes) bytes.")
        }
        let commands = root.listed.filter { $0.spec.subcommands.isEmpty }
        var section = Section(name: "", flags: commands.flatMap(\.spec.flags))
        var starts: [String: Int] = [:]
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        for (index, bytes) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let number = index + 1
            do throws(UsageError) {
                guard let line = try Self.text(of: bytes) else { continue }
                if line.hasPrefix("[") {
                    section = try Self.section(line, of: commands)
                    if let start = starts.updateValue(number, forKey: section.name) {
                        throw UsageError("the section [\(section.name)] begins in line \(start) already.")
                    }
                } else {
                    try add(line, number, to: section)
                }
            } catch {
                throw Self.error(error.message, line: number, of: path)
            }
        }
    }

    /// The lines that set an option of a command. Lines of its section stand in for those of all commands.
    func lines(of option: FlagEntry, for command: String) throws(UsageError) -> [Line] {
        let lines = sections[command]?[option.name] ?? sections[""]?[option.name] ?? []
        // An option of that name may be repeatable for other commands.
        if lines.count > 1, !option.isRepeatable {
            throw Self.error("'\(option.name)' is set in line \(lines[0].number) already.", line: lines[1].number, of: path)
        }
        return lines
    }

    private static func error(_ message: String, line: Int, of path: String) -> UsageError {
        UsageError("Line \(line) of the configuration file \(Sentence.quoted(path)): \(message)")
    }

    private struct Section {
        /// As one types the command, without the program's name.
        let name: String
        let flags: [FlagEntry]
    }

    /// A line without the blanks around it. Nil for a line that says nothing.
    private static func text(of bytes: ArraySlice<UInt8>) throws(UsageError) -> String? {
        guard bytes.count <= longestLine else { throw UsageError("it has more than \(longestLine) bytes.") }
        guard !bytes.contains(0), let line = String(validating: bytes, as: UTF8.self) else { throw UsageError("it is no text in UTF-8.") }
        let text = trimmed(line[...])
        return text.isEmpty || text.hasPrefix("#") ? nil : text
    }

    private static func section(_ line: String, of commands: [CommandSpec.Listed]) throws(UsageError) -> Section {
        guard line.hasSuffix("]") else { throw UsageError("a section is written '[run]' or '[batch wait]', alone on its line.") }
        let name = line.dropFirst().dropLast().split { isBlank($0) }.joined(separator: " ")
        let known = commands.map { Section(name: $0.path.dropFirst().joined(separator: " "), flags: $0.spec.flags) }
        guard let section = known.first(where: { $0.name == name }) else {
            throw UsageError("there is no command \(Sentence.quoted(name)).\(Sentence.didYouMean(name, among: known.map(\.name)))")
        }
        return section
    }

    private mutating func add(_ line: String, _ number: Int, to section: Section) throws(UsageError) {
        // A line that cannot be read is not shown: it may hold a secret.
        guard let sign = line.firstIndex(of: "=") else { throw UsageError("it is neither 'name = value' nor '[command]'.") }
        let name = Self.trimmed(line[..<sign])
        let value = Self.trimmed(line[line.index(after: sign)...])
        let entries = section.flags.filter { $0.name == name && !$0.isHidden }
        guard !entries.isEmpty else {
            let meant = Sentence.didYouMean(name, among: section.flags.filter(\.isSettable).map(\.name))
            throw UsageError(
                section.name.isEmpty
                    ? "no command has an option \(Sentence.quoted(name)).\(meant)"
                    : "'\(section.name)' has no option \(Sentence.quoted(name)).\(meant)")
        }
        guard entries.contains(where: \.isSettable) else { throw UsageError("'--\(name)' is for the command line alone.") }
        try Self.check(value)
        let earlier = sections[section.name]?[name] ?? []
        if let first = earlier.first, !entries.contains(where: \.isRepeatable) {
            throw UsageError("'\(name)' is set in line \(first.number) already.")
        }
        sections[section.name, default: [:]][name] = earlier + [Line(number: number, value: value)]
    }

    /// Refuses values that other formats would read in another way.
    private static func check(_ value: String) throws(UsageError) {
        if value.isEmpty { throw UsageError("there is no value behind '='.") }
        if value.hasPrefix("\"") || value.hasPrefix("'") { throw UsageError("a value stands without quotes.") }
        let blanks = value.indices.filter { isBlank(value[$0]) }
        if blanks.contains(where: { value[value.index(after: $0)] == "#" }) {
            throw UsageError("a comment stands on a line of its own, and no value has a blank before '#'.")
        }
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" || character == "\r" }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop(while: isBlank)
        return start.lastIndex { !isBlank($0) }.map { String(start[...$0]) } ?? ""
    }
}
