import GannetHTTP
import GannetTestKit
import Testing

/// The rule that counts for a path (RFC 9309, sections 2.2.2 and 2.2.3).
@Suite struct MatchingTests {
    @Test(arguments: [
        // Pattern, paths that fit, paths that do not.
        ("/", ["/", "/a", "/?q"], []),
        ("/fish", ["/fish", "/fish.html", "/fish/a", "/fishes?x=y"], ["/Fish", "/catfish", "/fis", "/"]),
        ("/fish/", ["/fish/", "/fish/?a"], ["/fish", "/fish.html"]),
        ("*", ["/", "/a"], []),
        ("/*", ["/", "/a"], []),
        ("/fish*", ["/fish", "/fishes"], ["/Fish", "/?fish"]),
        ("*.gif$", ["/.gif", "/a.gif", "/a/b.gif.gif"], ["/a.gif?", "/a.gifs", "/gif"]),
        ("/*.php", ["/a.php", "/a.php?b", "/a/b.phps", "/.php"], ["/a.PHP", "/php"]),
        ("/*.php$", ["/a.php", "/.php.php"], ["/a.php?b", "/a.php/", "/a.php.x"]),
        ("/a*b*c", ["/abc", "/axxbxxcxx", "/abbcc"], ["/acb", "/ab", "/xabc"]),
        ("/a*b*c$", ["/abc", "/abcbc"], ["/abcb", "/ac"]),
        ("/a**b", ["/ab", "/axb"], ["/a"]),
        ("/a$", ["/a"], ["/a/", "/a?", "/ab", "/a$"]),
        ("/a*$", ["/a", "/ab"], ["/b"]),
        ("/ab*ab$", ["/abab", "/abxab"], ["/ab", "/abb"]),
        ("/$", ["/"], ["/a"]),
        ("$", [], ["/"]),
        ("*$", ["/", "/x"], []),
        ("/a$b", ["/a$b", "/a%24bc"], ["/a", "/ab"]),
        ("/a$$", ["/a$", "/a%24"], ["/a", "/a$$"]),
        ("/a%24", ["/a$b", "/a%24"], ["/a"]),
        ("/a%2a", ["/a*", "/a%2Ab"], ["/ab", "/a"]),
        ("a", [], ["/a", "a", "/"]),
        ("https://a.test/", [], ["/", "/https://a.test/"]),
    ])
    func `a pattern fits the beginning of a path`(pattern: String, fitting: [String], others: [String]) {
        let rules = rules(forAll: "Disallow: \(pattern)")
        for path in fitting { #expect(!rules.allows(path), "\(pattern) fits \(path)") }
        for path in others { #expect(rules.allows(path), "\(pattern) does not fit \(path)") }
    }

    @Test(arguments: [
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A//foo.bar"), ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ"), ("/foo/bar/%62%61%7A", "/foo/bar/baz"), ("/baz", "/%62%61%7a"), ("/%c3%a4", "/%C3%A4"),
        ("/a b", "/a%20b"), ("/%7Ea", "/~a"), ("/~a", "/%7ea"), ("/a?b", "/a%3Fb"), ("/a%3db", "/a=b"), ("/100%", "/100%25"),
        ("/100%25", "/100%"), ("/a%zz", "/a%25zz"), ("/a%2", "/a%252"), ("/\"<>", "/%22%3C%3E"), ("/%41", "/A"), ("/a[1]", "/a%5B1%5D"),
        ("/%2f", "/%2F"),
    ])
    func `two spellings of an octet are the same`(pattern: String, path: String) {
        #expect(!rules(forAll: "Disallow: \(pattern)").allows(path))
        #expect(!rules(forAll: "Disallow: \(pattern)$").allows(path))
    }

    @Test(arguments: [
        ("/a/b", "/a%2Fb"), ("/a%2fb", "/a/b"), ("/a%2541", "/aA"), ("/a%41", "/a%2541"), ("/a%2541", "/a%41"), ("/%61", "/A"),
    ])
    func `an encoded slash, another case and a percent sign that is encoded are not the same`(pattern: String, path: String) {
        #expect(rules(forAll: "Disallow: \(pattern)").allows(path))
    }

    @Test(arguments: [
        (["Allow: /p", "Disallow: /"], "/page", true), (["Disallow: /", "Allow: /p"], "/page", true),
        (["Allow: /folder", "Disallow: /folder"], "/folder/page", true), (["Disallow: /folder", "Allow: /folder"], "/folder/page", true),
        (["Allow: /page", "Disallow: /*.htm"], "/page.htm", false), (["Allow: /$", "Disallow: /"], "/", true),
        (["Allow: /$", "Disallow: /"], "/page", false), (["Disallow: /a*", "Allow: /a"], "/ab", false),
        (["Disallow: /a$", "Allow: /a"], "/a", false),
        // Octets count as they are compared: nine for this character, one for each letter, whatever they were written as.
        (["Disallow: /ツ", "Allow: /*abcdefgh"], "/ツabcdefgh", true), (["Disallow: /ツ", "Allow: /*abcdefg"], "/ツabcdefg", false),
        (["Disallow: /%61%62", "Allow: /a*"], "/ab", true), (["Disallow: /%61%62%63", "Allow: /a*"], "/abc", false),
    ])
    func `the rule with the most octets counts, and of two that are as long the allowing one`(
        lines: [String], path: String, isAllowed: Bool
    ) {
        #expect(rules((["User-agent: *"] + lines).joined(separator: "\n")).allows(path) == isAllowed)
    }

    @Test func `an empty rule matches nothing`() {
        #expect(rules(forAll: "Disallow:", "Allow: ", "Disallow: #/") == .everything)
        #expect(!rules(forAll: "Disallow: /a", "Allow:").allows("/a"))
    }

    @Test func `robots txt itself is always allowed`() {
        for rules in [RobotsRules.nothing, rules(forAll: "Disallow: /", "Disallow: /robots.txt")] {
            #expect(rules.allows("/robots.txt") && rules.allows("/%72obots.txt"))
            #expect(
                !rules.allows("/robots.txt/a") && !rules.allows("/robots.txt?a") && !rules.allows("/Robots.txt")
                    && !rules.allows("/a/robots.txt"))
        }
    }

    @Test func `a path without its slash has one`() {
        #expect(rules(forAll: "Disallow: /$").allows("") == false)
        #expect(rules(forAll: "Disallow: /?q").allows("?q") == false)
    }

    @Test func `a file that cannot be had allows nothing, and a missing file allows everything`() {
        #expect(RobotsRules.everything.allows("/a") && RobotsRules.everything.count == 0 && RobotsRules.everything.crawlDelay == nil)
        #expect(RobotsRules.nothing.verdict(path: "/a") == .disallowed(rule: "Disallow: /", line: 0))
        #expect(RobotsRules.nothing.count == 1 && RobotsRules.nothing.crawlDelay == nil)
    }

    @Test func `the rule is shown as the file has it`() {
        #expect(rules("User-agent: *\n  DISALLOW :/%61  # why\n").verdict(path: "/a") == .disallowed(rule: "DISALLOW :/%61", line: 2))
        let rule = "Disallow: /*\u{1b}[2J\u{7}\u{202e}\u{9b}\u{2028}ä\0$"
        let path = "/%1B[2J%07%E2%80%AE%C2%9B%E2%80%A8%C3%A4%00"
        #expect(rules(forAll: rule).verdict(path: path) == .disallowed(rule: "Disallow: /*?[2J????ä?$".replacing("?"), line: 2))
        let long = "Disallow: /" + String(repeating: "ä", count: 400)
        let shown = RobotsVerdict.disallowed(rule: String(long.prefix(120)) + "…", line: 2)
        #expect(rules(forAll: long).verdict(path: String(long.dropFirst(10))) == shown)
    }

    /// Patterns of few letters, against a matcher that tries every way to fill each `*`.
    @Test func `patterns of a random kind fit what a slow matcher says`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededBytes(seed: seed)
        for _ in 0..<20_000 {
            let pattern = "/" + word(8, of: "aab*", &random) + (random.next() % 3 == 0 ? "$" : "")
            let path = "/" + word(12, of: "aab", &random)
            let fits = slowly(Array(pattern)[...], fit: Array(path)[...])
            #expect(rules(forAll: "Disallow: \(pattern)").allows(path) == !fits, "seed \(seed): \(pattern) and \(path)")
        }
    }

    private func word(_ longest: UInt64, of letters: String, _ random: inout SeededBytes) -> String {
        let count = Int(random.next() % (longest + 1))
        return String((0..<count).map { _ in Array(letters)[Int(random.next() % UInt64(letters.count))] })
    }

    private func slowly(_ pattern: ArraySlice<Character>, fit path: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return true }
        if first == "$", pattern.count == 1 { return path.isEmpty }
        if first == "*" { return (path.startIndex...path.endIndex).contains { slowly(pattern.dropFirst(), fit: path[$0...]) } }
        return path.first == first && slowly(pattern.dropFirst(), fit: path.dropFirst())
    }
}

extension String {
    /// The stand-in for characters that are not shown.
    fileprivate func replacing(_ mark: Character) -> String { String(map { $0 == mark ? "\u{fffd}" : $0 }) }
}
