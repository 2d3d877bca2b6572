import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

/// Idle workers are told when there are jobs, as many workers as there are jobs.
@Suite struct WakeUpTests {
    /// Makes idle workers with these inboxes, in this order.
    private func idle(_ fixture: QueueFixture, _ inboxes: [String]) async throws {
        for (index, inbox) in inboxes.enumerated() {
            let answer = try await fixture.claim(8, worker: "idle \(index)") { $0.inbox = inbox }
            #expect(answer.jobs.isEmpty)
        }
    }

    private func with(_ processes: Int, _ body: (QueueFixture, Inboxes) async throws -> Void) async throws {
        try await QueueFixture.with { fixture in
            let inboxes = try await Inboxes(fixture, (0..<processes).map { "p\($0)" })
            try await body(fixture, inboxes)
            await inboxes.close()
        }
    }

    @Test(arguments: [(1, 1), (3, 3), (9, 5)])
    func `enqueued jobs wake as many idle workers as there are jobs, and at most all`(jobs: Int, woken: Int) async throws {
        try await with(5) { fixture, inboxes in
            try await idle(fixture, inboxes.names)
            try await fixture.fill(0..<jobs)
            let messages = try await inboxes.messages()
            #expect(messages.count { $0 == ["qq"] } == woken)
            #expect(messages.allSatisfy { $0.count <= 1 })
            // Workers that were told are no longer idle, so the next jobs wake the others.
            try await fixture.fill(100..<110, batch: "more")
            #expect(try await inboxes.messages().count { $0 == ["qq"] } == 5 - woken)
        }
    }

    @Test func `inboxes of dead workers are skipped`() async throws {
        try await with(2) { fixture, inboxes in
            try await idle(fixture, (0..<20).map { "dead \($0)" } + inboxes.names)
            try await fixture.fill(0..<2)
            #expect(try await inboxes.messages() == [["qq"], ["qq"]])
        }
    }

    @Test func `a worker that has jobs is not idle`() async throws {
        try await with(2) { fixture, inboxes in
            try await idle(fixture, inboxes.names)
            try await fixture.fill(0..<1)
            _ = try await inboxes.messages()
            #expect(try await fixture.claim(1) { $0.inbox = inboxes.names[0] }.jobs.count == 1)
            #expect(try await fixture.claim(1) { $0.inbox = inboxes.names[1] }.jobs.isEmpty)
            try await fixture.fill(10..<20, batch: "more")
            #expect(try await inboxes.messages() == [[], ["qq"]])
        }
    }

    @Test func `a paused queue gives nothing, goes on with what is in flight, and wakes all when it goes on`() async throws {
        try await with(3) { fixture, inboxes in
            try await fixture.fill(0..<4)
            let job = try await fixture.claim(1).jobs[0]
            #expect(try await fixture.queue.pause() == false)
            #expect(try await fixture.queue.pause() == true)
            let answer = try await fixture.claim(5)
            #expect(answer.jobs.isEmpty && answer.isPaused && answer.left == .jobs && !answer.isMore)
            #expect(try await fixture.settle(job, QueueFixture.fetched("u")) == .settled)
            try await idle(fixture, inboxes.names)
            #expect(try await inboxes.messages() == [[], [], []])
            #expect(try await fixture.queue.resume() == true)
            #expect(try await inboxes.messages() == [["qq"], ["qq"], ["qq"]])
            #expect(try await fixture.queue.resume() == false)
            #expect(try await fixture.claim(5).jobs.count == 3)
        }
    }

    @Test func `another worker hears of a free place at a host, unless the worker that frees it takes it`() async throws {
        try await with(2) { fixture, inboxes in
            try await fixture.fill(0..<4)
            let jobs = try await fixture.claim(2, hostLimit: 2).jobs
            for (index, inbox) in inboxes.names.enumerated() {
                #expect(try await fixture.claim(1, hostLimit: 2, worker: "\(index)") { $0.inbox = inbox }.jobs.isEmpty)
            }
            for (job, wanted, woken) in [(jobs[0], 1, 0), (jobs[1], 0, 1)] {
                let answer = try await fixture.claim(wanted, hostLimit: 2) {
                    $0.settlements = [Settlement(job.token, job.id, QueueFixture.fetched(job.url), host: .answered)]
                }
                #expect(answer.jobs.count == wanted)
                #expect(try await inboxes.messages().count { $0 == ["qq"] } == woken)
            }
        }
    }

    @Test func `all waiting workers hear of the end of the last job`() async throws {
        try await with(3) { fixture, inboxes in
            try await fixture.fill(0..<1)
            let job = try await fixture.claim(1).jobs[0]
            try await idle(fixture, inboxes.names)
            _ = try await fixture.settle(job, QueueFixture.fetched("u"))
            #expect(try await inboxes.messages() == [["qq"], ["qq"], ["qq"]])
            #expect(try await fixture.claim(1).left == .nothing)
        }
    }
}
