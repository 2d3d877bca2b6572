import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// How many requests a host has in flight, from all workers together, and how soon they follow each other.
@Suite struct HostLimitTests {
    @Test func `a host has no more in flight than its limit, and the others do not wait for it`() async throws {
        try await QueueFixture.with { fixture in
            // Every job but one is for h0.
            try await fixture.fill((0..<999).map { $0 * 2 } + [7], hosts: 2)
            var jobs: [Job] = []
            for worker in 0..<4 { jobs += try await fixture.claim(10, hostLimit: 3, worker: "w\(worker)").jobs }
            #expect(jobs.filter { $0.host == "h0" }.map(\.id) == [0, 2, 4].map(QueueFixture.id))
            try await eventually("the job of the other host is handed out") {
                if jobs.count < 4 { jobs += try await fixture.claim(10, hostLimit: 3).jobs }
                return jobs.count == 4
            }
            #expect(jobs.last?.host == "h1")
            #expect(try await fixture.running() == ["h0": 3, "h1": 1])

            for number in [6, 8, 10] {
                #expect(try await fixture.settle(jobs.removeFirst(), QueueFixture.fetched("u")) == .settled)
                let next = try await fixture.claim(10, hostLimit: 3).jobs
                #expect(next.map(\.id) == [QueueFixture.id(number)])
                if jobs.last?.host == "h1" { jobs.removeLast() }
                jobs += next
            }
            #expect(try await fixture.claim(10, hostLimit: 3).jobs.isEmpty)
        }
    }

    @Test func `a rule that cannot be read is ignored`() async throws {
        try await QueueFixture.with { fixture in
            try await fixture.fill(0..<40, hosts: 2)
            try await fixture.cluster.set(OperatorRule("h0", limit: 2))
            try await fixture.redis.send(RedisCommand("HSET", .string(fixture.key("hosts")), "=h1", "somebody's words"))
            let jobs = try await fixture.claim(100, hostLimit: 5).jobs
            #expect(jobs.count { $0.host == "h0" } == 2)
            #expect(jobs.count { $0.host == "h1" } == 5)
            #expect(try await fixture.cluster.clearRule("h0"))
            _ = try await fixture.settle(jobs[0], QueueFixture.fetched("u"))
            #expect(try await fixture.claim(100, hostLimit: 5).jobs.count { $0.host == "h0" } == 4)
        }
    }

    @Test(arguments: [false, true])
    func `requests start as far apart as the interval says, even if several workers claim`(isStored: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<5)
            let rule = HostRule(limit: 10, interval: .milliseconds(1500), first: 10)
            if isStored { try await fixture.cluster.set(OperatorRule("h0", limit: rule.limit, interval: rule.interval)) }
            func claim(_ worker: String) async throws -> ExchangeAnswer {
                try await fixture.claim(10, worker: worker) { if !isStored { $0.host = rule } }
            }
            for number in 0..<5 {
                let answer = try await claim("a")
                #expect(answer.jobs.map(\.id) == [QueueFixture.id(number)])
                // All jobs that are left stand aside.
                let next = try await claim("b")
                #expect(next.jobs.isEmpty)
                if number < 4 { #expect(next.next == .milliseconds(1500)) }
                clock.advance(by: .milliseconds(1499))
                #expect(try await claim("b").jobs.isEmpty)
                clock.advance(by: .milliseconds(1))
            }
        }
    }

    @Test(arguments: [false, true])
    func `a host's pause outlasts the rule that it came from`(hasAnotherRule: Bool) async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<1)
            if hasAnotherRule { try await fixture.cluster.set(OperatorRule("h1", limit: 1)) }
            try await fixture.cluster.set(OperatorRule("h0", limit: 10, interval: .seconds(2)))
            #expect(try await fixture.claim(10).jobs.count == 1)
            #expect(try await fixture.cluster.clearRule("h0"))
            // A job that was there before would stand aside until the pause is over.
            try await fixture.fill(1..<2, batch: "later")
            clock.advance(by: .milliseconds(1999))
            #expect(try await fixture.claim(10).jobs.isEmpty)
            clock.advance(by: .milliseconds(1))
            #expect(try await fixture.claim(10).jobs.count == 1)
        }
    }
}
