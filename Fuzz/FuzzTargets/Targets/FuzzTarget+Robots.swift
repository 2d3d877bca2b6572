import GannetHTTP

extension FuzzTarget {
    /// The input is a robots.txt and, behind its last NUL, a path. A slow reader of the RFC's words answers the same question.
    static let robots = FuzzTarget(name: "robots", maximumLength: 1024) {
        [
            "User-agent: *\nDisallow: /a*b$\nAllow: /ab\n\0/axb",
            "User-agent: gannet\r\nUser-agent: b\rCrawl-delay: 1.5\nDisallow:/%61?ä#c\n\0/a%3F%c3%a4",
            "\u{feff}Disallow: /\nuser-agent : Gannet/1.0\nSitemap: x\nAllow:\ndisallow: *.gif$\nUser-agent: *\nDisallow: /\n\0/x.gif",
            "User-agent: gannet\nDisallow: /a*a*b*ab$\nAllow: /aa*\nUser-agent: gannet\nDisallow: /%2f%25$$\0/aabab",
            "<html>\n<p>User-agent: *\n\0/",
        ].map { Array($0.utf8) }
    } check: { (input) throws(BrokenInvariant) in
        let end = input.lastIndex(of: 0) ?? input.count
        let bytes = Array(input[..<end])
        let path = String(decoding: input[min(end + 1, input.count)...], as: UTF8.self)
        let file = RobotsFile(bytes)
        for agent in ["gannet", "b", "*"] {
            let rules = file.rules(for: agent)
            let slow = SlowRobots(bytes, agent: agent)
            try require(rules.count == slow.rules.count, "\(rules.count) rules for \(agent), and slowly \(slow.rules.count)")
            try require(rules == file.rules(for: agent.uppercased() + "/1"), "the rules depend on how \(agent) is written")
            let delay = rules.crawlDelay
            try require(delay.map { $0.isFinite && $0 >= 0 } ?? true, "a delay of \(delay ?? 0)")
            try require(delay == slow.delays.max(), "the delays \(slow.delays) are \(String(describing: delay))")
            let verdict = rules.verdict(path: path)
            try require(verdict == rules.verdict(path: path), "two verdicts")
            let line = slow.lineThatDisallows(path)
            switch verdict {
            case .allowed: try require(line == nil, "\(path) is allowed, and slowly line \(line ?? 0) disallows it")
            case .disallowed(let rule, let number):
                try require(line == number, "line \(number) disallows \(path), and slowly line \(line ?? 0)")
                try require(rule.unicodeScalars.count <= 121, "a rule of \(rule.unicodeScalars.count) characters is shown")
                try require(!rule.unicodeScalars.contains { $0.value < 0x20 || 0x7f...0x9f ~= $0.value }, "the rule can act on a terminal")
                try require(rule.lowercased().hasPrefix("disallow"), "the rule is \(rule)")
            }
            try require(rules.verdict(path: "/robots.txt") == .allowed, "robots.txt itself is disallowed")
        }
    }
}

/// A robots.txt for one agent, read in the most obvious way. Nothing here is fast.
private struct SlowRobots {
    typealias Rule = (isAllow: Bool, pattern: [String], line: Int)

    private(set) var rules: [Rule] = []
    private(set) var delays: [Double] = []

    init(_ bytes: [UInt8], agent: String) {
        var groups: [(agents: [String], rules: [Rule], delays: [Double], isClosed: Bool)] = []
        for (index, line) in Self.lines(bytes).enumerated() {
            let text = line.prefix { $0 != 0x23 }
            guard let colon = text.firstIndex(of: 0x3a) else { continue }
            let key = String(decoding: Self.trimmed(text[..<colon]), as: UTF8.self).lowercased()
            let value = Self.trimmed(text[(colon + 1)...])
            if key == "user-agent" {
                if groups.last?.isClosed ?? true { groups.append(([], [], [], false)) }
                groups[groups.count - 1].agents.append(Self.name(value))
            } else if !groups.isEmpty {
                let last = groups.count - 1
                if key == "allow" || key == "disallow" {
                    groups[last].isClosed = true
                    if !value.isEmpty { groups[last].rules.append((key == "allow", Self.normal(value), index + 1)) }
                } else if key == "crawl-delay", let delay = Self.delay(value) {
                    groups[last].delays.append(delay)
                }
            }
        }
        var mine = groups.filter { $0.agents.contains(agent) && agent != "*" }
        if mine.isEmpty { mine = groups.filter { $0.agents.contains("*") } }
        rules = mine.flatMap(\.rules)
        delays = mine.flatMap(\.delays)
    }

    /// The line of the rule that counts, if it disallows.
    func lineThatDisallows(_ path: String) -> Int? {
        var path = Self.normal(Array(path.utf8))
        if path.first != "/" { path.insert("/", at: 0) }
        // A pattern may have both of these, and a path has them encoded.
        path = path.map { $0 == "*" ? "%2A" : $0 == "$" ? "%24" : $0 }
        if path == "/robots.txt".map({ String($0) }) { return nil }
        let octets = path.joined().map { $0 }
        let fitting = rules.filter { Self.fits($0.pattern, octets) }
        guard let longest = fitting.map({ $0.pattern.joined().count }).max() else { return nil }
        let deciding = fitting.filter { $0.pattern.joined().count == longest }
        return deciding.contains { $0.isAllow } ? nil : deciding.first?.line
    }

    /// Which places of the path each part of the pattern can end at, as a set.
    private static func fits(_ pattern: [String], _ path: [Character]) -> Bool {
        var places: Set<Int> = [0]
        for (index, part) in pattern.enumerated() {
            if part == "$", index == pattern.count - 1 { return places.contains(path.count) }
            if part == "*" {
                places = places.min().map { Set($0...path.count) } ?? []
                continue
            }
            for octet in part == "$" ? "%24" : part {
                places = Set(places.filter { $0 < path.count && path[$0] == octet }.map { $0 + 1 })
            }
        }
        return !places.isEmpty
    }

    /// Each octet as a text of its own. Of a `$`, only the last one stays.
    private static func normal(_ bytes: [UInt8]) -> [String] {
        var parts: [String] = []
        var rest = bytes[...]
        while let first = rest.popFirst() {
            let pair = String(decoding: rest.prefix(2), as: UTF8.self)
            var octet = first
            let isEscape = first == 0x25 && pair.utf8.count == 2 && pair.allSatisfy { $0.isASCII && $0.isHexDigit }
            if isEscape, let value = UInt8(pair, radix: 16) {
                octet = value
                rest = rest.dropFirst(2)
            }
            let character = Character(Unicode.Scalar(octet))
            let isPlain = octet < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            let isSpecial = !isEscape && (character == "/" || character == "*" || character == "$" && rest.isEmpty)
            let digits = String(octet, radix: 16, uppercase: true)
            parts.append(isPlain || isSpecial ? String(character) : "%" + (digits.count == 1 ? "0" : "") + digits)
        }
        return parts
    }

    private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var last: UInt8 = 0
        for byte in bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...] {
            if byte == 0x0d || byte == 0x0a && last != 0x0d { lines.append([]) }
            if byte != 0x0d && byte != 0x0a { lines[lines.count - 1].append(byte) }
            last = byte
        }
        return lines
    }

    private static func name(_ value: [UInt8]) -> String {
        if value == [0x2a] { return "*" }
        let isPart = { (byte: UInt8) in
            let character = Character(Unicode.Scalar(byte))
            return byte < 0x80 && (character.isLetter || character.isNumber || "-_.".contains(character))
        }
        return String(decoding: value.prefix(while: isPart), as: UTF8.self).lowercased()
    }

    private static func delay(_ value: [UInt8]) -> Double? {
        let text = String(decoding: value, as: UTF8.self)
        guard text.contains(where: \.isNumber), text.utf8.allSatisfy({ $0 == 0x2e || 0x30...0x39 ~= $0 }) else { return nil }
        let halves = text.split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        let number = Double("0\(halves[0]).\(halves.count == 2 ? halves[1] : "")0")
        return number == .infinity ? nil : number
    }

    private static func trimmed(_ bytes: [UInt8].SubSequence) -> [UInt8] {
        var bytes = bytes
        while bytes.first == 0x20 || bytes.first == 0x09 { bytes.removeFirst() }
        while bytes.last == 0x20 || bytes.last == 0x09 { bytes.removeLast() }
        return Array(bytes)
    }
}
