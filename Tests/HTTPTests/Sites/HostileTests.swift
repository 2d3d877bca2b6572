import Testing

@testable import GannetHTTP

/// Files that would keep a worker busy if the work grew faster than their bytes. Steps are counted, and no time is.
@Suite struct HostileTests {
    @Test(arguments: Trap.all)
    func `the steps of a pattern grow with its octets and the path's`(trap: Trap) {
        let (verdict, steps) = rules(forAll: "Disallow: \(trap.pattern)").verdict(path: trap.path) as (RobotsVerdict, Int)
        #expect(verdict == .allowed, "\(trap.name)")
        #expect(steps <= 4 * (trap.pattern.utf8.count + trap.path.utf8.count), "\(trap.name): \(steps) steps")
    }

    @Test func `a pattern that is longer than the path takes no more steps than the path`() {
        let (_, steps) = rules(forAll: "Disallow: /" + "a" * 100_000).verdict(path: "/aaaa") as (RobotsVerdict, Int)
        #expect(steps == 1)
        let (_, more) = rules(forAll: "Disallow: /*" + "a" * 100_000).verdict(path: "/aaaa") as (RobotsVerdict, Int)
        #expect(more == 2)
    }

    /// As many rules without `*` as a file can have.
    @Test func `a file full of short rules is obeyed whole`() {
        let rules = rules("User-agent: *\n" + "Allow:/\n" * 63_990 + "Disallow:/z\n")
        #expect(rules.count == 63_991)
        let (verdict, steps) = rules.verdict(path: "/" + "a" * 8000) as (RobotsVerdict, Int)
        #expect(verdict == .allowed && steps < 10)
        #expect(rules.line(for: "/z") == 63_992)
    }

    @Test func `a file full of rules with stars decides about usual paths, and disallows a path that would take for ever`() {
        let rules = rules("User-agent: *\n" + (0..<30_000).map { "Disallow:*a\($0 % 10_000)b\n" }.joined())
        #expect(rules.count == 30_000)
        let (usual, some) = rules.verdict(path: "/images/a/picture-of-a-bird.jpeg?width=1000") as (RobotsVerdict, Int)
        #expect(usual == .allowed && some < RobotsRules.maximumSteps)
        let (long, most) = rules.verdict(path: "/" + "a" * 8000) as (RobotsVerdict, Int)
        guard case .disallowed(let rule, let line) = long else {
            Issue.record("a path that was not compared is allowed")
            return
        }
        #expect(rule == "more rules with * than can be compared" && line > 1)
        #expect(most <= RobotsRules.maximumSteps + 4 * 8_020)
    }

    @Test func `agents without end, keys without end and colons without end are read in one pass`() {
        let agents = rules("User-agent: a\n" * 36_000 + "User-agent: gannet\nDisallow: /x")
        #expect(!agents.allows("/x"))
        #expect(rules("User-agent: *\n" + ":" * 400_000 + "\nDisallow: /x\n").line(for: "/x") == 3)
        #expect(rules("\r" * 500_000 + "User-agent: *\nDisallow: /x").line(for: "/x") == 500_002)
    }
}

/// A pattern with pieces that nearly fit at each place of a path.
struct Trap: Sendable, CustomTestStringConvertible {
    let name: String
    let pattern: String
    let path: String

    var testDescription: String { name }

    static let all = [
        Trap(name: "one long piece", pattern: "/*" + "a" * 2000 + "b", path: "/" + "a" * 8000),
        Trap(name: "short pieces", pattern: "/" + "*a" * 2000 + "*b", path: "/" + "a" * 8000),
        Trap(name: "short pieces and an end", pattern: "/" + "*aab" * 1000 + "$", path: "/" + "aaab" * 1999 + "aaa"),
        Trap(name: "a piece that repeats itself", pattern: "/*" + "ab" * 1000 + "c", path: "/" + "ab" * 4000),
        Trap(name: "stars", pattern: "/*" + "*" * 8000 + "x", path: "/" + "a" * 8000),
        Trap(name: "middling pieces", pattern: "/" + ("*" + "a" * 40 + "b") * 90, path: "/" + "a" * 8000),
    ]
}

extension String {
    fileprivate static func * (text: String, count: Int) -> String { String(repeating: text, count: count) }
}
