import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// The pace of a host, which workers set because its site or its slow answers ask for it.
@Suite struct PaceTests {
    @Test(arguments: [
        (Duration.zero, Duration.zero), (.milliseconds(1), .milliseconds(62)), (.milliseconds(125), .milliseconds(125)),
        (.seconds(1), .seconds(1)),
        (.seconds(60), .seconds(64)), (.seconds(86_400), .seconds(64)),
    ])
    func `a pace is the next step of its scale, up to about a minute`(asked: Duration, kept: Duration) {
        #expect(HostPace(atLeast: asked).interval == kept)
    }

    @Test func `no step is shorter than asked, or longer by more than an eighth`() {
        for milliseconds in 63..<60_000 {
            let interval = HostPace(atLeast: .milliseconds(milliseconds)).interval / .milliseconds(1)
            // Redis counts whole milliseconds.
            #expect(interval > Double(milliseconds) - 1 && interval < Double(milliseconds) * 1.125, "\(milliseconds)")
        }
    }

    @Test func `requests start as far apart as the pace says, and a job that has its place may ask whether it is its turn`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<6)
            // These were handed out before anybody knew.
            #expect(try await fixture.claim(2).jobs.count == 2)
            let pace = HostPace(atLeast: .seconds(1))
            let first = try await fixture.queue.set(pace, of: "h0", starts: true)
            #expect(first.before == .none && first.wait == .zero)
            let second = try await fixture.queue.set(pace, of: "h0", starts: true)
            #expect(second.before == pace && second.wait == .seconds(1))
            #expect(try await fixture.claim(10).jobs.isEmpty)
            clock.advance(by: .milliseconds(999))
            #expect(try await fixture.claim(10).jobs.isEmpty)
            clock.advance(by: .milliseconds(1))
            #expect(try await fixture.claim(10).jobs.count == 1)
            #expect(try await fixture.claim(10).jobs.isEmpty)
            #expect(try await fixture.cluster.explain(QueueFixture.id(0), host: "h0").standing.pace == pace)

            // An operator's rule outranks it.
            try await fixture.cluster.set(OperatorRule("h0", limit: 100, interval: .milliseconds(10)))
            clock.advance(by: .seconds(1))
            #expect(try await fixture.claim(10).jobs.count == 1)
            clock.advance(by: .milliseconds(10))
            #expect(try await fixture.claim(10).jobs.count == 1)
            #expect(try await fixture.cluster.clearRule("h0"))

            // It ends when the site asks for it no more.
            #expect(try await fixture.queue.set(.none, of: "h0", starts: false).before == pace)
            clock.advance(by: .seconds(1))
            #expect(try await fixture.claim(10).jobs.count == 1)
        }
    }

    @Test func `a host with a pace is named with the jobs that wait for it, and without such jobs it is not`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            _ = try await fixture.queue.set(HostPace(atLeast: .seconds(2)), of: "h0", starts: false)
            #expect(try await fixture.queue.overview().waits.paced.isEmpty)
            try await fixture.fill(0..<100)
            #expect(try await fixture.claim(10).jobs.count == 1)
            let waits = try await fixture.queue.overview().waits
            #expect(waits.silent.isEmpty && waits.paced.map(\.name) == ["h0"] && waits.paced[0].state == .paced)
            #expect(waits.paced[0].jobs == 99 && waits.paced[0].pace == .seconds(2) && waits.paced[0].rest == .seconds(2))
            #expect(waits.paced[0].time == .seconds(198))
            try await fixture.cluster.set(OperatorRule("h0", interval: .milliseconds(10)))
            #expect(try await fixture.queue.overview().waits.paced.isEmpty)
        }
    }

    @Test func `a host keeps its pace while it rests, and a host that nobody asks for is forgotten with its pace`() async throws {
        try await QueueFixture.withClock { fixture, clock in
            clock.stop()
            try await fixture.fill(0..<2)
            let job = try await fixture.claim(1).jobs[0]
            let pace = HostPace(atLeast: .seconds(2))
            _ = try await fixture.queue.set(pace, of: "h0", starts: false)
            #expect(try await fixture.settle(job, QueueFixture.throttled(job.url, for: .seconds(5))) == .settled)
            let resting = try #require(try await fixture.host("h0"))
            #expect(resting.isProbing && resting.pace == pace.step)
            clock.advance(by: .seconds(10))
            let again = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(again, QueueFixture.fetched(again.url)) == .settled)
            let served = try #require(try await fixture.host("h0"))
            #expect(!served.isProbing && served.pace == pace.step)
            clock.advance(by: .seconds(10))
            let last = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.settle(last, QueueFixture.fetched(last.url)) == .settled)
            #expect(try await fixture.host("h0")?.pace == pace.step)
            clock.advance(by: .seconds(3700))
            try await eventually("the host is forgotten") {
                _ = try await fixture.claim(10)
                return try await fixture.host("h0") == nil
            }
        }
    }
}
