/// A robots.txt, parsed by RFC 9309. Docs/ROBOTS.md lists the rules that hold, and where other parsers differ.
///
/// No bytes are an error: a line that is no rule, such as those of an HTML page, says nothing. The work of parsing is linear in the bytes.
package struct RobotsFile: Sendable {
    /// In bytes; RFC 9309 (section 2.5) asks for as many at least. A caller that cuts a longer file hands over one byte more than these, so that
    /// the line that was cut is known and not used.
    package static let maximumLength = 500 * 1024

    private let bytes: [UInt8]
    private var groups: [Group] = []

    /// Agents, and the lines that hold for all of them.
    private struct Group {
        /// In lower case. A line that names nobody adds none.
        var agents: [[UInt8]] = []
        var isForAll = false
        var rules: [RobotsLine] = []
        var delays: [Double] = []
        /// Whether the next line with an agent begins another group. RFC 9309 leaves that to `Allow` and `Disallow` alone, so neither
        /// `Sitemap` nor `Crawl-delay` parts the agents before it from those behind it (section 2.2.4).
        var hasRules = false
    }

    /// Reads `maximumLength` bytes at most.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes.count <= Self.maximumLength ? bytes : Array(bytes[..<RobotsLine.wholeLines(of: bytes, in: Self.maximumLength)])
        var group: Group?
        RobotsLine.forEach(in: self.bytes) { line in
            switch line.key {
            case .userAgent:
                if let ended = group, ended.hasRules {
                    groups.append(ended)
                    group = nil
                }
                let value = self.bytes[line.value]
                if group == nil { group = Group() }
                if value.elementsEqual([UInt8(ascii: "*")]) { group?.isForAll = true }
                if let name = ProductToken.name(in: value) { group?.agents.append(name) }
            case .allow, .disallow:
                group?.hasRules = true
                // An empty value matches nothing.
                if !line.value.isEmpty { group?.rules.append(line) }
            case .crawlDelay:
                if let delay = Self.seconds(inDelay: self.bytes[line.value]) { group?.delays.append(delay) }
            }
        }
        if let group { groups.append(group) }
    }

    /// The rules for an agent, whose product token this is, such as `gannet`. All groups that name it are one. Where no group does, the groups
    /// for `*` are; and where there is none of these, all is allowed.
    package func rules(for agent: String) -> RobotsRules {
        let name = ProductToken.name(in: Array(agent.utf8)[...])
        var applying = groups.filter { group in name.map(group.agents.contains) ?? false }
        if applying.isEmpty { applying = groups.filter(\.isForAll) }
        return RobotsRules(applying.flatMap(\.rules), of: bytes, crawlDelay: applying.flatMap(\.delays).max())
    }

    /// The value of `Crawl-delay`, which no RFC defines: digits, and a point among or beside them. Nil for all else, such as a sign, an
    /// exponent or a unit.
    private static func seconds(inDelay value: ArraySlice<UInt8>) -> Double? {
        let points = value.count { $0 == UInt8(ascii: ".") }
        guard points <= 1, value.count > points, value.allSatisfy({ $0 == UInt8(ascii: ".") || $0.isDigit }) else { return nil }
        // Zeroes on both sides: "5." and ".5" are numbers here, and not to Swift.
        let text = "0" + String(decoding: value, as: UTF8.self) + (points == 1 ? "0" : "")
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
}

/// The name of a client, as robots.txt and `X-Robots-Tag` have it.
enum ProductToken {
    /// The name that a text begins with, in lower case: `Gannet/1.0 (fast)` names `gannet`. Nil where the text begins with no name.
    ///
    /// RFC 9309 has letters, `-` and `_`. Names of real crawlers also have digits and points, and a name is never a part of a longer one.
    static func name(in text: ArraySlice<UInt8>) -> [UInt8]? {
        let name = text.prefix(while: isPart).map(\.lowercased)
        return name.isEmpty ? nil : name
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}
