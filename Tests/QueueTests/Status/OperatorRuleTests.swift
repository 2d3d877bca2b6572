import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Operators' rules for hosts outrank what workers are told.
@Suite struct OperatorRuleTests {
    @Test(arguments: [1, 3]) func `rules are stored, listed, replaced and cleared`(partitions: Int) async throws {
        try await QueueFixture.with(partitions: partitions) { fixture in
            let cluster = fixture.cluster
            #expect(try await cluster.hostRules() == [])
            try await cluster.set(OperatorRule("*.example.com", limit: 2))
            try await cluster.set(OperatorRule("a.example.com", interval: .seconds(1)))
            try await cluster.set(OperatorRule("b.example.com", limit: 9, pause: .seconds(60)))
            try await cluster.set(OperatorRule("a.example.com", limit: 3, interval: .seconds(2)))
            let rules = try await cluster.hostRules()
            #expect(rules.map(\.pattern) == ["*.example.com", "a.example.com", "b.example.com"])
            #expect(rules[0] == OperatorRule("*.example.com", limit: 2))
            #expect(rules[1] == OperatorRule("a.example.com", limit: 3, interval: .seconds(2)))
            let pause = try #require(rules[2].pause)
            #expect(pause > .seconds(50) && pause <= .seconds(60))
            for rule in rules { #expect(try await cluster.clearRule(rule.pattern)) }
            #expect(try await cluster.clearRule("a.example.com") == false)
            #expect(try await cluster.hostRules() == [])
        }
    }

    @Test func `a host's own rule holds before its domain's, and each host of a domain has its own places`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.cluster.set(OperatorRule("*.d", limit: 1))
            try await fixture.cluster.set(OperatorRule("b.d", limit: 2))
            let hosts = ["a.d", "b.d", "c.d", "d"]
            let entries = try (0..<16).map {
                try JobEntry(id: QueueFixture.id($0), host: hosts[$0 % 4], url: "http://\(hosts[$0 % 4])/\($0)")
            }
            try await fixture.accept(entries)
            let jobs = try await fixture.claimAll(16, hostLimit: 3)
            let counts = Dictionary(grouping: jobs, by: \.host).mapValues(\.count)
            #expect(counts == ["a.d": 1, "b.d": 2, "c.d": 1, "d": 3])
            #expect(try await fixture.cluster.explain(entries[0].id, host: "a.d").standing.rule == OperatorRule("*.d", limit: 1))
            #expect(try await fixture.cluster.explain(entries[1].id, host: "b.d").standing.rule?.pattern == "b.d")
            #expect(try await fixture.cluster.explain(entries[3].id, host: "d").standing.rule == nil)
        }
    }

    @Test func `a domain's rule holds for its hosts on all ports, and a host's own rule for one port`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.cluster.set(OperatorRule("*.d", limit: 1))
            try await fixture.cluster.set(OperatorRule("a.d:81", limit: 2))
            try await fixture.cluster.set(OperatorRule("[::1]:81", limit: 2))
            let hosts = ["a.d", "a.d:81", "a.d:82", "d:81", "[::1]", "[::1]:81"]
            let entries = try (0..<24).map {
                try JobEntry(id: QueueFixture.id($0), host: hosts[$0 % 6], url: "http://\(hosts[$0 % 6])/\($0)")
            }
            try await fixture.accept(entries)
            let jobs = try await fixture.claimAll(24, hostLimit: 3)
            let counts = Dictionary(grouping: jobs, by: \.host).mapValues(\.count)
            #expect(counts == ["a.d": 1, "a.d:81": 2, "a.d:82": 1, "d:81": 3, "[::1]": 3, "[::1]:81": 2])
            for (entry, rule) in zip(entries, ["*.d", "a.d:81", "*.d", nil, nil, "[::1]:81"]) {
                #expect(try await fixture.cluster.explain(entry.id, host: entry.host).standing.rule?.pattern == rule)
            }
            #expect(try await fixture.cluster.hosts(named: "a.d") == ["a.d:81", "a.d:82"])
            #expect(try await fixture.cluster.hosts(named: "d:80") == ["d:81"])
            #expect(try await fixture.cluster.hosts(named: "[::1]") == ["[::1]:81"])
        }
    }

    @Test func `a host that is paused starts nothing`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.cluster.set(OperatorRule("h0", pause: .seconds(3600)))
            try await fixture.fill(0..<4, hosts: 2)
            #expect(Set(try await fixture.claimAll(9).map(\.host)) == ["h1"])
        }
    }

    @Test func `jobs of a host whose pause an operator ends go on within half a minute`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.cluster.set(OperatorRule("*.d", pause: .seconds(3600)))
            try await fixture.accept([try JobEntry(id: QueueFixture.id(0), host: "a.d", url: "http://a.d/0")])
            #expect(try await fixture.claimAll(9).isEmpty)
            #expect(try await fixture.cluster.clearRule("*.d"))
            clock.advance(by: .seconds(30))
            #expect(try await fixture.claimAll(9).count == 1)
        }
    }

    @Test func `exchanges read rules only while there are any`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.cluster.set(OperatorRule("h0", limit: 1))
            #expect(try await fixture.cluster.clearRule("h0"))
            let clock = try await fixture.redis.send(RedisCommand("HGET", .string(fixture.key("state")), "clock")).asBytes()
            #expect(clock.suffix(2) == [0, 0])
        }
    }

    @Test func `no more than a thousand rules are stored`() async throws {
        try await QueueFixture.with { fixture in
            for number in 0..<1000 { try await fixture.cluster.set(OperatorRule("h\(number)", limit: 1)) }
            await #expect(throws: StateError.self) { try await fixture.cluster.set(OperatorRule("one-more", limit: 1)) }
            try await fixture.cluster.set(OperatorRule("h7", limit: 2))
            #expect(try await fixture.cluster.hostRules().count == 1000)
        }
    }

    @Test(arguments: [
        OperatorRule("h"), OperatorRule("", limit: 1), OperatorRule("*", limit: 1), OperatorRule("*.", limit: 1),
        OperatorRule("a.*", limit: 1),
        OperatorRule("H", limit: 1), OperatorRule("a b", limit: 1), OperatorRule("http://h/", limit: 1), OperatorRule("h", limit: 0),
        OperatorRule("h", interval: .seconds(-1)), OperatorRule("h", pause: .seconds(400 * 86_400)),
    ])
    func `a rule that is none is refused`(rule: OperatorRule) async throws {
        try await QueueFixture.with { fixture in
            await #expect(throws: StateError.self) { try await fixture.cluster.set(rule) }
            let stored = try await fixture.cluster.hostRules()
            #expect(stored.isEmpty)
        }
    }
}
