/// Errors about permissions, with the words that the user's ACL rule lacks. Before Redis 7.2, servers do not name the command of a script. They
/// give only the number of its line.
extension RedisError {
    /// `nil` if the error reply is not about permissions.
    init?(refusal text: String) {
        guard text.hasPrefix("NOPERM ") || text.contains(Self.refusedInScript) else { return nil }
        if let name = Self.quotedCommand(in: text) {
            self.init(.notPermitted, Self.lacking([name]))
        } else if text.contains("channel") {
            self.init(
                .notPermitted, "its ACL rule lacks the namespace's channels, &{NAME}*; on a cluster also &{NAME:*}*")
        } else if text.contains("key") {
            self.init(.notPermitted, Self.lackingKeys)
        } else {
            self.init(.notPermitted, "a command of a script\(Self.lineMark)\(Self.line(in: text) ?? 0)")
        }
    }

    /// Whether the user lacks a right to keys, and not to commands or channels.
    package var isAboutKeys: Bool { detail == Self.lackingKeys }

    private static let lackingKeys =
        "its ACL rule lacks the namespace's keys, ~{NAME}*; for bodies ~{NAME:blob}*, for several partitions ~{NAME:*}*"

    /// Names the refused command, if only its line of the script is known.
    func naming(commandIn script: RedisScript?) -> RedisError {
        guard kind == .notPermitted, let script, let mark = detail.firstRange(of: Self.lineMark),
            let line = Int(detail[mark.upperBound...]),
            line > 0
        else { return self }
        let lines = script.source.split(separator: "\n", maxSplits: line, omittingEmptySubsequences: false)
        guard line <= lines.count else { return self }
        let names = Self.calls(in: lines[line - 1])
        guard !names.isEmpty else { return self }
        var copy = self
        copy.detail = Self.lacking(names)
        return copy
    }

    private static let refusedInScript = "The user executing the script can't"
    private static let lineMark = ", line "

    private static let lacks = "its ACL rule lacks "

    private static func lacking(_ names: [String]) -> String {
        lacks + names.map { "+" + $0.lowercased() }.joined(separator: " or ")
    }

    /// The word of a rule for a command that the user may not give; `nil` where it is about keys or channels.
    var lackingCommand: String? {
        detail.hasPrefix(Self.lacks + "+") ? String(detail.dropFirst(Self.lacks.count)) : nil
    }

    /// The error of a user whose rule lacks these words.
    package init(lacking words: [String], server: String) {
        self.init(.notPermitted, Self.lacks + words.joined(separator: " "), server: server)
    }

    /// `… no permissions to run the 'get' command …`
    private static func quotedCommand(in text: String) -> String? {
        guard let opening = text.firstRange(of: "to run the '") else { return nil }
        let name = text[opening.upperBound...].prefix { $0 != "'" }
        return name.isEmpty ? nil : String(name.prefix(64))
    }

    /// `@user_script:12` in Redis 7, `@user_script: 12:` behind another number before.
    private static func line(in text: String) -> Int? {
        guard let mark = text.ranges(of: "@user_script:").last else { return nil }
        return Int(text[mark.upperBound...].drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber }.prefix(9))
    }

    /// The commands that a line of Lua calls: `call('NAME', …)`, or one of two with `call(condition and 'NAME' or 'OTHER', …)`.
    private static func calls(in line: Substring) -> [String] {
        line.ranges(of: "call(").reduce(into: []) { names, mark in
            let words = line[mark.upperBound...].prefix { $0 != "," && $0 != ")" }.split(separator: "'", omittingEmptySubsequences: false)
            // Every second part was between quotes.
            for name in words.enumerated().filter({ $0.offset % 2 == 1 }).map({ String($0.element) }) where !names.contains(name) {
                names.append(name)
            }
        }
    }
}
