import Foundation
import GannetBase
import GannetTestKit
import Testing

/// Commands whose Redis goes away.
@Suite(.timeLimit(.minutes(2))) struct OutageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The answers of a Redis to a client that connects.
    private static let greeting: [HostileServer.Step] = [
        .readUntil("PING\r\n"),
        .send("*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n+PONG\r\n"),
    ]

    /// The answer of a Redis about the namespace, to a command that changes nothing.
    private static let schema: [HostileServer.Step] = [.readUntil("GET\r\n"), .send("$3\r\n4/1\r\n")]

    @Test func `a private Redis that dies in the middle of a run is started again, and the run goes on`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let gate = try fleet.gateList(after: 10)
        try await Home.with { home in
            let words = ["run", "-i", fleet.list, "-d", fleet.out, "--concurrency", "4", "--lease", "3s", "--verbose"] + fleet.local
            let run = try ChildProcess(.init(Program.path, words, environment: Program(home: home.path).environment))
            try await gate.accepted(2)
            let server = try #require(home.serverProcess)
            kill(server, SIGKILL)
            _ = try await run.errors.line { $0.hasPrefix("gannet: waiting for Redis at unix://") }
            _ = try await run.errors.line { $0 == "gannet: The private Redis has gone; starting it again." }
            _ = try await run.errors.line { $0 == "gannet: Redis is back; going on." }
            // The server may answer before its keeper has written who it is.
            try await eventually("the lock names another server") { home.serverProcess != server }
            #expect(!run.errors.text.contains("too long"))
            run.signal(SIGINT)
            _ = try await run.errors.line { $0.hasPrefix("gannet: stopping") }
            run.signal(SIGINT)
            #expect(try await run.exitStatus == .exited(130))
            let again = try await Program(home: home.path).process(words)
            #expect(again.status == 0, "\(again.errors)")
            try fleet.expectAllBodies()
        }
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a run whose Redis is emptied under it says so instead of calling it done`() async throws {
        let fleet = try await Fleet.start(files: 10)
        let gate = try fleet.gateList(after: 4)
        let run = try fleet.start(fleet.run + ["--concurrency", "4"])
        try await gate.accepted(2)
        try await fleet.loseKeys()
        try await gate.stop()
        #expect(try await run.exitStatus == .exited(69))
        _ = try #require(try await run.errors.line { $0.hasPrefix("Error: ") && $0.contains("Redis has lost") })
        try await fleet.stop()
    }

    @Test func `an enqueue whose batch Redis has lost says what was lost and what to do`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let feeder = try await fleet.startFeeding(["enqueue", "-i", "-"])
        try await fleet.loseKeys()
        try feeder.input.close()
        #expect(try await feeder.child.exitStatus == .exited(69))
        try await feeder.child.errors.finished()
        let sentence =
            "Error: Redis has lost this batch or a part of it, as after a failover, or the queue was purged. "
            + "\(Fleet.chunk) URLs of it had been accepted. Run the same command again: a URL whose outcome is known is not fetched again. "
            + "Add '--batch "
        let text = feeder.child.errors.text
        #expect(text.contains(sentence) && text.hasSuffix("' to the command.\n"), "\(text)")
        try await fleet.stop()
    }

    @Test func `enqueueing says when it waits for Redis and when Redis is back`() async throws {
        let fleet = try await Fleet.start(.stopped, files: 2, redis: { $0.appendOnly = true })
        let feeder = try await fleet.startFeeding(["enqueue", "-i", "-"])
        try await fleet.redis.kill9()
        try feeder.input.close()
        let waiting = try await feeder.child.errors.line { $0.hasPrefix("gannet: waiting for Redis at unix://") }
        #expect(waiting?.contains("too long") == false)
        try await fleet.redis.restart()
        _ = try await feeder.child.errors.line { $0 == "gannet: Redis is back; going on." }
        #expect(try await feeder.child.exitStatus == .exited(0))
        try await fleet.stop()
    }

    @Test func `a status that Redis does not answer fails without waiting for better times`() async throws {
        let server = try HostileServer(
            unixSocket: folder.file("s"), scripts: [Self.greeting + Self.schema + [.readUntil("EVALSHA"), .close]] + [[.close]])
        let outcome = try await Program(home: "/dev/null/none").run("status", "--redis", "unix://\(folder.file("s"))")
        #expect(outcome.status == 69)
        #expect(!outcome.errors.contains("waiting"))
        #expect(outcome.errors.hasPrefix("Error: The connection to Redis at unix://"))
        try await server.stop()
    }

    @Test func `a worker whose places are all taken says at once that an outcome waits for Redis`() async throws {
        let fleet = try await Fleet.start(.stopped, files: 1)
        // One answer comes when Redis has gone, and one never.
        let slow = try HostileServer(
            .readUntil("\r\n\r\n"), .pause(.seconds(1)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close)
        let silent = try HostileServer(.silence)
        _ = try await fleet.text(["enqueue"] + [slow, silent].map { "http://127.0.0.1:\($0.port)/a.gate" })
        // Its leases are renewed after minutes.
        let worker = try fleet.start(fleet.work + ["--concurrency", "2", "--lease", "10m"])
        try await slow.accepted(1)
        try await silent.accepted(1)
        try await fleet.redis.kill9()
        _ = try #require(try await worker.errors.line { $0.hasPrefix("gannet: waiting for Redis at ") })
        worker.signal(SIGINT)
        let notice = try await worker.errors.line { $0.hasPrefix("gannet: stopping") }
        #expect(
            notice
                == "gannet: stopping; 2 URLs in flight cannot end while Redis does not answer. After 25.0 s they are left, and fetched again later. Stop again to leave at once."
        )
        worker.signal(SIGINT)
        #expect(try await worker.exitStatus == .exited(130))
        try await slow.stop()
        try await silent.stop()
        try await fleet.stop()
    }

    @Test(.timeLimit(.minutes(3)), arguments: ["enqueue", "run"])
    func `a signal ends a command that waits for Redis, which would wait for a minute`(command: String) async throws {
        let fleet = try await Fleet.start(.stopped, files: 2)
        let feeder = try await fleet.startFeeding(command == "run" ? ["run", "-i", "-", "-d", fleet.out] : ["enqueue", "-i", "-"])
        try await fleet.redis.kill9()
        try feeder.input.close()
        _ = try await feeder.child.errors.line { $0.hasPrefix("gannet: waiting for Redis at ") }
        feeder.child.signal(SIGINT)
        #expect(try await feeder.child.exitStatus == .exited(130))
        try await fleet.stop()
    }

    enum Outage: String, CaseIterable, Sendable {
        /// Redis is silent, and its connections stay open.
        case stopped
        /// Redis is gone, and started again from its append-only file.
        case killed
    }

    private func takeAway(_ redis: RedisServer, _ outage: Outage, for time: Duration) async throws {
        if outage == .stopped { redis.pause() } else { try await redis.kill9() }
        try await Task.sleep(for: time)
        if outage == .stopped { redis.resume() } else { try await redis.restart() }
    }

    /// Four workers with a short lease, which keep bodies in Redis and start twenty requests a second together. They begin when all of them
    /// are connected: a worker that does not find Redis at its start ends.
    private func startFour(_ fleet: Fleet) async throws -> [ChildProcess] {
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        _ = try await fleet.text(["pause"])
        let words = ["work", "--until-empty", "--lease", "2s", "--concurrency", "4", "--host-rate", "20"]
        let workers = try (0..<4).map { _ in try fleet.start(words + fleet.local + fleet.connection) }
        try await eventually("all four are listed") { try await (fleet.json(["status"])["workers"] as? [Any])?.count == 4 }
        _ = try await fleet.text(["resume"])
        return workers
    }

    private func expectAllDone(_ fleet: Fleet, _ workers: [ChildProcess], _ number: Int) async throws {
        for worker in workers { #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)") }
        let status = try await fleet.json(["status"])
        let totals = try #require(status["totals"] as? [String: Any])
        #expect(totals["done"] as? Int == number && totals["failed"] as? Int == 0, "\(totals)")
        #expect(totals["crashed"] as? Int == 0 && totals["fenced"] as? Int == 0, "\(totals)")
        #expect((status["jobs"] as? [String: Any])?["dead"] as? Int == 0)
    }

    @Test(arguments: Outage.allCases)
    func `with a Redis that is up for less than half of a lease at a time, work goes on and nobody is charged`(
        outage: Outage
    ) async throws {
        let fleet = try await Fleet.start(.stopped, files: 20, redis: { $0.appendOnly = true })
        let workers = try await startFour(fleet)
        let isOver = Mutex(false)
        let outages = Task {
            while !isOver.withLock({ $0 }) {
                try await Task.sleep(for: .milliseconds(900))
                try await takeAway(fleet.redis, outage, for: .milliseconds(1200))
            }
        }
        for worker in workers { _ = try await worker.exitStatus }
        isOver.withLock { $0 = true }
        try await outages.value
        try await expectAllDone(fleet, workers, 20)
        try await fleet.stop()
    }

    @Test(arguments: Outage.allCases)
    func `an outage longer than a lease charges none of four workers a crash`(outage: Outage) async throws {
        let fleet = try await Fleet.start(.stopped, files: 20, redis: { $0.appendOnly = true })
        let workers = try await startFour(fleet)
        try await eventually("some URLs are fetched") { try await fleet.requests().count > 10 }
        try await takeAway(fleet.redis, outage, for: .seconds(3))
        try await expectAllDone(fleet, workers, 20)
        try await fleet.stop()
    }
}
