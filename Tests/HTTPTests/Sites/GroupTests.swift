import GannetHTTP
import Testing

/// Whose rules they are (RFC 9309, sections 2.1 and 2.2.1).
@Suite struct GroupTests {
    @Test func `a group that names the agent applies, and the group for all does not`() {
        let file = "User-agent: *\nDisallow: /all\nUser-agent: gannet\nDisallow: /ours\n"
        #expect(rules(file).allows("/all") && !rules(file).allows("/ours"))
        #expect(!rules(file, for: "other").allows("/all") && rules(file, for: "other").allows("/ours"))
    }

    @Test func `all groups that name the agent are one, and so are all groups for all`() {
        let named = rules("User-agent: gannet\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: gannet\nDisallow: /c\n")
        #expect(!named.allows("/a") && named.allows("/b") && !named.allows("/c") && named.count == 2)
        let forAll = rules("User-agent: *\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: *\nDisallow: /c\n")
        #expect(!forAll.allows("/a") && forAll.allows("/b") && !forAll.allows("/c"))
    }

    @Test func `an agent's group without rules allows all`() {
        #expect(rules("User-agent: *\nDisallow: /\nUser-agent: gannet\n") == .everything)
        #expect(rules("User-agent: gannet\nDisallow:\nUser-agent: *\nDisallow: /\n") == .everything)
    }

    @Test func `a file without a group for the agent allows all`() {
        #expect(rules("User-agent: other\nDisallow: /\n") == .everything)
        #expect(rules("") == .everything)
    }

    @Test(arguments: ["gannet", "Gannet", "GANNET", "gannet/1.0", "Gannet/1.0 (+https://a.test)", "gannet # ours", "gannet*"])
    func `a name is compared without its case and without a version`(name: String) {
        #expect(!rules("User-agent: \(name)\nDisallow: /\n").allows("/"))
        #expect(!rules("User-agent: gannet\nDisallow: /\n", for: name).allows("/"))
    }

    @Test(arguments: ["gan", "gannets", "gannet-image", "gannet2", "my-gannet", "mygannet", "*gannet", "", "*x", "/gannet", "other gannet"])
    func `another name is not the agent's`(name: String) {
        #expect(rules("User-agent: \(name)\nDisallow: /\n").allows("/"))
    }

    @Test func `several agents share the rules below them`() {
        let file =
            "User-agent: a\n\nUser-agent: gannet\n# ours\nUser-agent: b\nDisallow: /x\n\n\nDisallow: /y\nUser-agent: c\nDisallow: /z\n"
        for agent in ["a", "b", "gannet"] {
            let rules = rules(file, for: agent)
            #expect(!rules.allows("/x") && !rules.allows("/y") && rules.allows("/z"))
        }
        #expect(rules(file, for: "c").line(for: "/z") == 11)
    }

    @Test(arguments: ["Sitemap: https://a.test/s.xml", "Host: a.test", "Crawl-delay: 2", "Noindex: /", "nonsense", "Disalow: /b"])
    func `a line with another key neither ends a group nor parts its agents`(line: String) {
        let between = "User-agent: gannet\n\(line)\nUser-agent: b\n\(line)\nDisallow: /x\n\(line)\nDisallow: /y\n"
        for agent in ["gannet", "b"] { #expect(!rules(between, for: agent).allows("/x") && !rules(between, for: agent).allows("/y")) }
    }

    @Test func `rules above the first agent are nobody's`() {
        #expect(rules("Disallow: /\nCrawl-delay: 3\nSitemap: /x\n\nUser-agent: *\nDisallow: /x\n").allows("/y"))
    }

    @Test func `an empty rule ends the list of agents`() {
        let file = "User-agent: gannet\nDisallow:\nUser-agent: b\nDisallow: /\n"
        #expect(rules(file).allows("/") && !rules(file, for: "b").allows("/"))
    }

    @Test func `an agent line without a name begins a group that is nobody's`() {
        #expect(rules("User-agent: *\nDisallow: /x\nUser-agent:\nDisallow: /y\n").allows("/y"))
        #expect(!rules("User-agent: gannet\nUser-agent:\nDisallow: /x\n").allows("/x"))
    }

    // MARK: Crawl-delay

    @Test(arguments: [
        ("5", 5.0), ("0", 0), ("0.5", 0.5), (".25", 0.25), ("10.", 10), ("007", 7), ("2.5 # slowly", 2.5), ("99999999999999999999", 1e20),
    ])
    func `a delay has digits and a point`(value: String, seconds: Double) {
        #expect(rules(forAll: "Crawl-delay: \(value)").crawlDelay == seconds)
    }

    @Test(arguments: [
        "", "-1", "+1", "1e3", "inf", "nan", "0x10", "1,5", "1.2.3", ".", "5 s", "five", "\u{663}", String(repeating: "9", count: 400),
    ])
    func `another delay is none`(value: String) {
        #expect(rules(forAll: "Crawl-delay: \(value)").crawlDelay == nil)
    }

    @Test func `the longest delay of the groups that apply counts`() {
        let file = "User-agent: gannet\nCrawl-delay: 2\nDisallow: /x\nCrawl-delay: 4\nUser-agent: *\nCrawl-delay: 9\nDisallow: /\n"
        #expect(rules(file + "User-agent: gannet\nCrawl-delay: 3").crawlDelay == 4)
        #expect(rules(file, for: "other").crawlDelay == 9)
    }
}
