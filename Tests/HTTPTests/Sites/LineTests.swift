import GannetHTTP
import Testing

/// The text of a file, as it should be and as it comes (RFC 9309, sections 2.2 and 2.5).
@Suite struct LineTests {
    @Test(arguments: ["\n", "\r", "\r\n"])
    func `lines end with CR, LF or both, and are counted`(end: String) {
        let lines = ["# comment", "User-agent: *", "", "Disallow: /x", "Disallow: /y"]
        #expect(rules(lines.joined(separator: end)).line(for: "/y") == 5)
        #expect(rules(lines.joined(separator: end) + end).line(for: "/x") == 4)
    }

    @Test func `LF and CR are two ends`() {
        #expect(rules("User-agent: *\n\rDisallow: /\r\r\n").line(for: "/") == 3)
    }

    @Test(arguments: [
        "\u{feff}User-agent: *\nDisallow: /x", " \tuser-AGENT\t : \t* \t\n\tDISALLOW:/x\t ", "User-agent:*#\nDisallow:/x#y",
        "User-agent: * # all\nDisallow: /x # this",
    ])
    func `a mark at the beginning, blanks, comments and the case of keys mean nothing`(file: String) {
        #expect(!rules(file).allows("/x/z") && rules(file).allows("/y"))
    }

    @Test(arguments: [
        "User agent: *\nDisallow: /", "Useragent: *\nDisallow: /", "User-agent *\nDisallow: /", "User-agent: *\nDisalow: /",
        "User-agent: *\nDisallow /", "User-agent: *\nDis allow: /", "User-agent: *\n\u{feff}Disallow: /", "User-agent: *\n:Disallow: /",
        "User-agent: *\n\u{a0}Disallow: /", "User-agent: *\nDisallow\u{b}: /",
    ])
    func `a line with another key is no rule`(file: String) {
        #expect(rules(file) == .everything)
    }

    @Test func `the pages of a site that answers everything have no rules`() {
        let page = """
            <!DOCTYPE html>
            <html><head><title>User-agent: * Disallow: /</title><style>a { color: red } body: /</style></head>
            <body><p>User-agent: *<br>Disallow: /</p><a href="/">Allow: /</a>
            <p>User-agent: gannet<br>
            <p>Disallow: /
            </body></html>
            """
        #expect(rules(page) == .everything)
    }

    @Test func `NUL and bytes that are no text are parts of a line as others are`() {
        let file =
            Array("User-agent: *\nDisallow: /a".utf8) + [0, 0x62, 0x0a] + Array("Disallow: /".utf8) + [0xff, 0xc3, 0x0a, 0, 0xff, 0x0a]
        let rules = RobotsFile(file + Array("\0Disallow: /\nDisallow: /z".utf8)).rules(for: "gannet")
        #expect(rules.count == 3)
        #expect(!rules.allows("/a%00b") && rules.allows("/ab") && rules.allows("/a"))
        #expect(!rules.allows("/%FF%C3") && rules.allows("/%FF") && rules.line(for: "/z") == 6)
    }

    @Test func `text of two bytes a character has no rules`() {
        let text = "User-agent: *\nDisallow: /\n"
        #expect(RobotsFile([0xff, 0xfe] + text.utf8.flatMap { [$0, 0] }).rules(for: "gannet") == .everything)
    }

    // MARK: The limit

    private let limit = RobotsFile.maximumLength

    /// A file whose last line ends at this length, and one line more.
    private func file(last: String, endingAt length: Int, more: String) -> RobotsRules {
        let start = "User-agent: *\nDisallow: /first\n"
        let filling = String(repeating: "#", count: length - start.utf8.count - 1 - last.utf8.count) + "\n"
        return rules(start + filling + last + more)
    }

    @Test func `half a megabyte is read`() {
        #expect(limit >= 500 * 1024)
        #expect(!file(last: "Disallow: /last", endingAt: limit, more: "").allows("/last"))
        #expect(!file(last: "Disallow: /last", endingAt: limit, more: "\nDisallow: /more").allows("/last"))
        #expect(file(last: "Disallow: /last", endingAt: limit, more: "\nDisallow: /more").allows("/more"))
    }

    @Test func `a line that the limit cuts is not used`() {
        let cut = file(last: "Disallow: /last", endingAt: limit, more: "s")
        #expect(cut.allows("/last") && cut.allows("/lasts") && !cut.allows("/first"))
        #expect(file(last: "Disallow: /last", endingAt: limit + 1, more: "").allows("/last"))
        #expect(!file(last: "Disallow: /last\n", endingAt: limit, more: "Disallow: /more").allows("/last"))
        #expect(rules("User-agent: *" + String(repeating: " ", count: limit)) == .everything)
    }
}
