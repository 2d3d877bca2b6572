import Foundation
import GannetTestKit
import Testing

/// `gannet workers`, with real workers.
@Suite(.timeLimit(.minutes(2))) struct WorkersCommandTests {
    private typealias Listed = [String: Any]

    private static func list(_ fleet: Fleet, _ words: [String] = []) async throws -> [Listed] {
        try #require(try await fleet.json(["workers", "list"] + words)["workers"] as? [Listed])
    }

    /// Waits for the record of a process, and answers it.
    private static func record(
        of process: ChildProcess, in fleet: Fleet, _ isWanted: (Listed) -> Bool = { _ in true }
    ) async throws -> Listed {
        var found: Listed?
        try await eventually("the worker \(process.pid) is listed as expected, not as \(found ?? [:])") {
            found = try await list(fleet, ["--all-queues"]).first { $0["pid"] as? Int == Int(process.pid) }
            return found.map(isWanted) ?? false
        }
        return try #require(found)
    }

    private static func start(_ fleet: Fleet, _ words: [String]) throws -> ChildProcess {
        try fleet.start(["work"] + words + fleet.local + fleet.connection)
    }

    @Test func `workers are listed with what they do, of one queue or of all`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let none = try await fleet.outcome(["workers", "list"] + fleet.connection)
        #expect(none.status == 0 && none.output == "")
        #expect(none.errors == "gannet: no worker of the queue 'default' was heard of lately; 'gannet work' starts one.\n")

        let gate = try fleet.gateList(after: 1)
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        let busy = try Self.start(fleet, ["--concurrency", "2"])
        let idle = try Self.start(fleet, ["--queue", "images"])
        try await gate.accepted(2)
        let listed = try await Self.record(of: busy, in: fleet) { $0["active"] as? Int == 2 }
        #expect(
            Set(listed.keys) == [
                "queue", "id", "host", "pid", "version", "ageSeconds", "heartbeatSeconds", "concurrency", "concurrencyBound", "active",
                "endedPerSecond",
                "partitions", "draining", "state",
            ])
        #expect(listed["queue"] as? String == "default" && listed["state"] as? String == "working" && listed["draining"] as? Bool == false)
        #expect(listed["concurrencyBound"] as? String == "given")
        #expect(listed["concurrency"] as? Int == 2 && listed["version"] is String && listed["host"] is String)
        #expect(listed["ageSeconds"] is Double)
        // One host is one partition.
        #expect((listed["partitions"] as? [Int])?.isEmpty == false)
        #expect(try await Self.record(of: idle, in: fleet)["queue"] as? String == "images")
        #expect(try await Self.list(fleet).map { $0["pid"] as? Int } == [Int(busy.pid)])

        let table = try await fleet.text(["workers", "list", "--all-queues"]).split(separator: "\n").map(String.init)
        #expect(table.count == 3 && table[0].hasPrefix("WORKER") && table[0].hasSuffix("STATE"), "\(table)")
        #expect(
            table.contains { $0.contains(" default ") && $0.split(separator: " ").contains("2") && $0.hasSuffix("working") }, "\(table)")
        #expect(table.contains { $0.contains(" images ") && $0.hasSuffix("idle") }, "\(table)")
        for worker in [busy, idle] { worker.terminate() }
        try await gate.stop()
        for worker in [busy, idle] { #expect(try await worker.exitStatus == .exited(0)) }
        #expect(try await Self.list(fleet, ["--all-queues"]).isEmpty)
        try await fleet.stop()
    }

    @Test func `a drained worker ends the requests that it has, takes no more jobs and exits with 0`() async throws {
        let fleet = try await Fleet.start(files: 5)
        let gate = try fleet.gateList(after: 0)
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        let worker = try Self.start(fleet, ["--concurrency", "2", "--drain-timeout", "10m"])
        try await gate.accepted(2)
        let name = try #require(try await Self.record(of: worker, in: fleet)["id"] as? String)
        let asked = try await fleet.text(["workers", "drain", name, "--no-wait"])
        #expect(asked == "Asked 1 worker of the queue 'default' to drain.\n")
        #expect(try await Self.record(of: worker, in: fleet)["draining"] as? Bool == true)
        // Both listings have the same word.
        let shown = try await fleet.text(["status"]).split(separator: "\n").first { $0.hasPrefix(name) }
        #expect(shown?.hasSuffix("draining") == true, "\(shown ?? "-")")
        _ = try await worker.errors.line { $0 == "gannet: asked by 'gannet workers drain' to finish its jobs and end." }
        _ = try await worker.errors.line { $0.hasPrefix("gannet: stopping; 2 URLs in flight may end within 10 min") }
        // Neither the signal of a supervisor nor a second wish cuts the requests short.
        worker.terminate()
        let late = try await fleet.outcome(["workers", "drain", name, "--timeout", "50ms"] + fleet.connection)
        #expect(late.status == 75 && late.output == "Ended: 0 of 1 worker of the queue 'default'.\n", "\(late)")
        #expect(
            late.errors
                == "gannet: asked 1 worker to drain; waiting for the end.\nError: Not all workers have ended in time. Left: '\(name)'.\n")
        #expect(worker.isRunning)
        let waiting = try fleet.start(["workers", "drain", name] + fleet.connection)
        _ = try await waiting.errors.line { $0 == "gannet: asked 1 worker to drain; waiting for the end." }
        try await gate.stop()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        #expect(try await waiting.exitStatus == .exited(0))
        try await waiting.output.finished()
        #expect(waiting.output.text == "Ended: 1 of 1 worker of the queue 'default'.\n")
        // The other jobs wait, and no wish is left for a later worker.
        #expect(try await fleet.requests().isEmpty)
        #expect((try await fleet.json(["status"])["jobs"] as? [String: Int])?["ready"] == 5)
        for answer in try await fleet.answers(of: "{gannet}q:default:queue", "HKEYS") {
            guard case .list(let fields) = answer else { throw KitError("no fields: \(answer)") }
            #expect(!fields.contains { $0.text?.hasPrefix("drain:") == true || $0.text?.hasPrefix("worker:") == true }, "\(fields)")
        }
        try await fleet.stop()
    }

    @Test func `a drain of all workers of a queue leaves other queues' workers and later workers alone`() async throws {
        let fleet = try await Fleet.start(files: 4)
        let old = try (0..<2).map { _ in try Self.start(fleet, []) }
        let other = try Self.start(fleet, ["--queue", "images"])
        for worker in old + [other] { _ = try await Self.record(of: worker, in: fleet) }
        let drained = try await fleet.json(["workers", "drain", "--all"])
        #expect((drained["asked"] as? [String])?.count == 2 && drained["ended"] as? [String] == drained["asked"] as? [String])
        #expect(drained["left"] as? [String] == [] && drained["queue"] as? String == "default")
        for worker in old { #expect(try await worker.exitStatus == .exited(0)) }
        #expect(other.isRunning)
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        try fleet.expectAllBodies()
        #expect(
            try await fleet.text(["workers", "drain", "--all"]) == "No worker of the queue 'default' was there to drain.\n")
        other.terminate()
        #expect(try await other.exitStatus == .exited(0))
        try await fleet.stop()
    }

    @Test func `a name that no worker has is exit 64, and nobody is asked`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let worker = try Self.start(fleet, [])
        let name = try #require(try await Self.record(of: worker, in: fleet)["id"] as? String)
        let outcome = try await fleet.outcome(["workers", "drain", name, "nobody"] + fleet.connection)
        #expect(outcome.status == 64 && outcome.output == "")
        #expect(
            outcome.errors == "Error: There is no worker 'nobody' in the queue 'default', so nobody was asked; "
                + "'gannet workers list --all-queues' shows those there are.\n", "\(outcome.errors)")
        #expect(try await Self.record(of: worker, in: fleet)["draining"] as? Bool == false)
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0))
        try await fleet.stop()
    }

    @Test(arguments: [
        ("drain", "Name the workers to drain, or say '--all'."),
        ("drain --all x", "'--all' names all workers already: leave the names out."),
        ("drain x --timeout 0s", "'--timeout"), ("list x", "Unexpected argument 'x'"),
    ])
    func `a command line that asks for nothing is exit 64 and says why`(words: String, sentence: String) async throws {
        let outcome = try await Program(home: "/dev/null/none").run(["workers"] + words.split(separator: " ").map(String.init))
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    }
}
