import Foundation
import GannetTestKit
import Testing

/// `status --watch` as a person at a terminal sees it.
@Suite(.timeLimit(.minutes(3))) struct WatchOnTerminalTests {
    /// A queue with a worker that has two URLs in flight for as long as the gate is closed, and the rest behind it.
    private static func withWork(_ reason: OneServer? = nil, _ body: (Fleet, TmuxScreen) async throws -> Void) async throws {
        let fleet = try await Fleet.start(reason, files: 30, redis: { $0.appendOnly = true })
        let gate = try fleet.slowList(after: 10)
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection).status == 0)
        let worker = try fleet.start(["work", "--store", fleet.out, "--concurrency", "2"] + fleet.local + fleet.connection)
        try await gate.accepted(2)
        let screen = try await TmuxScreen.start()
        try await body(fleet, screen)
        try await screen.stop()
        worker.kill()
        _ = try await worker.exitStatus
        try await gate.stop()
        try await fleet.stop()
    }

    private static func watch(_ fleet: Fleet) -> [String] { ["status", "--watch"] + fleet.connection }

    /// A worker that has two jobs for its two places.
    private static func isAtWork(_ row: String) -> Bool { row.contains(/\ 2 +2 .* working/) }

    private static func isWhole(_ rows: [String]) -> Bool {
        rows[0].hasPrefix("queue default") && rows.contains { $0.hasPrefix("not ended 22: ready 20, active 2, ") }
            && rows.contains { $0.hasPrefix("oldest waits ") }
            && rows.contains(where: isAtWork) && rows.contains { $0.hasPrefix("127.0.0.1") }
            && rows.contains { $0.hasPrefix("ended a second: ") } && rows.contains { $0.contains("█") }
    }

    @Test func `the screen shows depths, speed, workers and hosts, through resizes, and leaves the terminal as it was`() async throws {
        try await Self.withWork { fleet, screen in
            try await screen.run("stty", ["-a"])
            let modes = try await screen.waitForPrompt()
            try await screen.run(Program.path, Self.watch(fleet))
            try await screen.wait(for: Self.isWhole)
            #expect(try await screen.property("alternate_on") == "1")
            #expect(try await screen.property("cursor_flag") == "0")
            for (columns, rows) in [(200, 50), (50, 12), (80, 24)] {
                try await screen.resize(columns: columns, rows: rows)
                let seen = try await screen.wait { $0[0].hasPrefix("queue default") && (columns < 80 || Self.isWhole($0)) }
                // tmux shows a row less than there is where the last is empty.
                #expect(seen.count <= rows + 1)
                #expect(seen.allSatisfy { $0.count < columns }, "\(seen)")
            }
            try await screen.wait(for: Self.isWhole)
            try await screen.press("q")
            try await screen.waitForPrompt()
            #expect(try await screen.property("alternate_on") == "0")
            #expect(try await screen.property("cursor_flag") == "1")
            try await screen.run("stty", ["-a"])
            #expect(try await screen.waitForPrompt() == modes)
        }
    }

    @Test func `when a second batch has ended the last line tells of that batch, and an unknown queue is called unknown`() async throws {
        let fleet = try await Fleet.start(files: 8)
        let screen = try await TmuxScreen.start()
        try await screen.run(Program.path, Self.watch(fleet))
        try await screen.wait { $0[2] == "there is no queue 'default': nothing was put into it, or it was purged" }
        for batch in [fleet.origin.urls[..<5], fleet.origin.urls[5...]] {
            #expect(try await fleet.outcome(["enqueue"] + batch + fleet.connection).status == 0)
            try await screen.wait { $0[2].contains(" 0 of \(batch.count) ended, no worker is at work") }
            #expect(try await fleet.outcome(fleet.work).status == 0)
            try await screen.wait { $0[2].hasSuffix("100%  finished: \(batch.count) of \(batch.count) ended") }
        }
        try await screen.press("q")
        try await screen.waitForPrompt()
        try await screen.stop()
        try await fleet.stop()
    }

    @Test func `when its run has ended the screen says so, dates its counts and shows no worker at work`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let gate = try fleet.slowList(after: 10)
        let run = try fleet.start(fleet.run + ["--concurrency", "2"])
        let note = try #require(try await run.errors.line { $0.hasPrefix("gannet: the queue of this run is '") })
        let name = try #require(note.split(separator: "'").dropFirst().first.map(String.init))
        try await gate.accepted(2)
        let screen = try await TmuxScreen.start()
        try await screen.run(Program.path, ["status", "--watch", "--queue", name] + fleet.connection)
        try await screen.wait { rows in rows.contains(where: Self.isAtWork) }
        run.signal(SIGINT)
        _ = try await run.errors.line { $0.hasPrefix("gannet: stopping") }
        run.signal(SIGINT)
        _ = try await run.exitStatus
        let rows = try await screen.wait { $0[2].hasPrefix("finished: the run ended and removed its queue. The counts are from ") }
        #expect(
            rows[2].hasSuffix(" s before.") && rows.contains("its workers have ended") && !rows.contains { $0.contains("working") },
            "\(rows)")
        try await screen.press("q")
        try await screen.waitForPrompt()
        try await screen.stop()
        try await gate.stop()
        try await fleet.stop()
    }

    @Test(arguments: [("C-c", "130"), ("q", "0")])
    func `a key ends it with the status that goes with it`(key: String, status: String) async throws {
        try await Self.withWork { fleet, screen in
            try await screen.run(Program.path, Self.watch(fleet))
            try await screen.wait(for: Self.isWhole)
            try await screen.press(key)
            try await screen.waitForPrompt(after: status)
        }
    }

    @Test func `while Redis is away it says so, and goes on when Redis is back`() async throws {
        try await Self.withWork(.stopped) { fleet, screen in
            try await screen.run(Program.path, Self.watch(fleet))
            try await screen.wait(for: Self.isWhole)
            try await fleet.redis.kill9()
            try await screen.wait { $0[1].contains("Redis") && $0[0].hasPrefix("queue default") }
            try await fleet.redis.restart()
            try await screen.wait { Self.isWhole($0) && $0[1].isEmpty }
            try await screen.press("q")
            try await screen.waitForPrompt()
        }
    }

    @Test func `Ctrl-Z gives the terminal back, and fg brings the screen back`() async throws {
        try await Self.withWork { fleet, screen in
            try await screen.run(Program.path, Self.watch(fleet))
            try await screen.wait(for: Self.isWhole)
            try await screen.press("C-z")
            // 128 and the number of the signal.
            try await screen.waitForPrompt(after: "\(128 + SIGSTOP)")
            #expect(try await screen.property("alternate_on") == "0")
            try await screen.run("fg", [])
            try await screen.wait(for: Self.isWhole)
            try await screen.press("q")
            try await screen.waitForPrompt()
        }
    }
}
