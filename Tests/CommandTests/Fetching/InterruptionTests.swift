import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct InterruptionTests {
    private struct Row: Decodable {
        struct Problem: Decodable {
            let `class`: String
            let message: String
        }
        let url: String
        let outcome: String
        let file: String?
        let error: Problem?
    }

    @Test func `a signal that comes while Python begins ends a run in order`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let begun = fleet.folder.file("begun")
        let slow = try await TablePython.fake(": > '\(begun)'; exec sleep 60", in: fleet.folder)
        let run = try fleet.start(
            fleet.run + ["--manifest-format", "parquet"], with: ["PATH": "\(slow):\(fleet.program.environment["PATH"] ?? "")"])
        try await eventually("Python is asked") { FileManager.default.fileExists(atPath: begun) }
        run.signal(SIGINT)
        #expect(try await run.exitStatus == .exited(130), "\(run.errors.text)")
        #expect(try await fleet.requests().isEmpty)
        try await fleet.stop()
    }

    @Test(arguments: [(SIGTERM, SIGINT, 143), (SIGINT, SIGINT, 130)] as [(Int32, Int32, Int32)])
    func `a run that signals ended goes on where it stopped, and fetches nothing twice`(
        first: Int32, second: Int32, status: Int32
    ) async throws {
        let fleet = try await Fleet.start(files: 100)
        let gate = try fleet.gateList(after: 20)
        let words = fleet.run + ["--concurrency", "2"]
        let interrupted = try await fleet.start(words, untilFetched: 20)
        try await gate.accepted(2)
        interrupted.signal(first)
        let notice = try await interrupted.errors.line { $0.hasPrefix("gannet: stopping") }
        #expect(notice == "gannet: stopping; 2 URLs in flight may end within 25.0 s. Stop again to leave at once.")
        interrupted.signal(second)
        #expect(try await interrupted.exitStatus == .exited(status))
        try await interrupted.errors.finished()
        #expect(interrupted.errors.text.contains("gannet: interrupted before it was done; the same command goes on where it stopped."))
        #expect(try await fleet.queueKeys() == .list([]))
        #expect(interrupted.output.text == "")
        #expect(try fleet.bodies().count == 20)
        #expect(interrupted.errors.text.contains("gannet: manifest.jsonl says what there is: 20 of 102 rows ended, 82 pending."))
        let rows: [Row] = try fleet.manifest()
        #expect(rows.map(\.outcome) == Array(repeating: "fetched", count: 20) + Array(repeating: "pending", count: 82))
        #expect(Set(rows.compactMap(\.error?.message)) == ["The run was interrupted before this URL ended."])
        #expect(rows.allSatisfy { ($0.file == nil) == ($0.error?.class == "pending") })

        let again = try await fleet.outcome(words)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.complaints == "gannet: 20 of 102 URLs are there already; 82 to fetch.\n")
        #expect(again.output.hasPrefix("82 URLs fetched, 20 there already, 0 failed; "))
        try fleet.expectAllBodies()
        #expect(try await fleet.requests() == Dictionary(uniqueKeysWithValues: fleet.origin.files.map { ($0.path, 1) }))
        #expect(try await fleet.queueKeys() == .list([]))
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `after one signal, requests in flight go on to their end`() async throws {
        let fleet = try await Fleet.start(files: 40)
        let gate = try fleet.gateList(after: 20)
        let words = fleet.run + ["--concurrency", "2", "--retries", "0"]
        let first = try await fleet.start(words, untilFetched: 20)
        try await gate.accepted(2)
        first.terminate()
        _ = try await first.errors.line { $0.hasPrefix("gannet: stopping; 2 URLs") }
        // The end of what is in flight: lost connections.
        try await gate.stop()
        #expect(try await first.exitStatus == .exited(143))
        try await first.errors.finished()
        #expect(first.errors.lines.count { $0.hasPrefix("failed: The connection was lost (") } == 2)
        let counts = first.errors.lines.first { $0.hasPrefix("gannet: so far: ") }
        #expect(counts?.hasPrefix("gannet: so far: 20 fetched, 2 failed (reset 2), ") == true, "\(first.errors.text)")
        let second = try await fleet.outcome(words)
        #expect(second.status == 1)
        #expect(second.output.hasPrefix("20 URLs fetched, 20 there already, 2 failed (reset 2); 42 rows, "))
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test(arguments: [(SIGINT, "0", 1), (SIGTERM, "2", 0)] as [(Int32, String, Int32)])
    func `a run whose last requests end after a signal ends as without it`(
        signal: Int32, permitted: String, status: Int32
    ) async throws {
        let fleet = try await Fleet.start(files: 20)
        let gate = try fleet.gateList(after: 20)
        let words = fleet.run + ["--concurrency", "2", "--retries", "0", "--max-failures", permitted]
        let run = try await fleet.start(words, untilFetched: 20)
        try await gate.accepted(2)
        run.signal(signal)
        _ = try await run.errors.line { $0.hasPrefix("gannet: stopping; 2 URLs") }
        // The end of what is in flight: lost connections.
        try await gate.stop()
        #expect(try await run.exitStatus == .exited(status))
        try await run.output.finished()
        #expect(run.output.text.hasPrefix("20 URLs fetched, 2 failed (reset 2); 22 rows, "), "\(run.output.text)")
        try await run.errors.finished()
        #expect(!run.errors.lines.contains { $0.contains("interrupted") || $0.contains("so far") }, "\(run.errors.text)")
        let rows: [Row] = try fleet.manifest()
        #expect(rows.map(\.outcome) == Array(repeating: "fetched", count: 20) + ["failed", "failed"])
        #expect(try await fleet.queueKeys() == .list([]))
        try await fleet.stop()
    }

    @Test func `a run whose URL another run fetches says so, and so does its row`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gate = try fleet.gateList(after: 0)
        let url = fleet.origin.url("/a.gate", through: gate)
        let words = [url] + fleet.local + fleet.connection
        let first = try fleet.start(["run", "-d", fleet.folder.file("first")] + words)
        try await gate.accepted(1)
        let second = try fleet.start(
            ["run", "-d", fleet.out] + words, with: ["GANNET_TEST_TIMES": Program.times + ",progress=50ms"])
        let wait = "1 URL is being fetched by another worker (until at most "
        _ = try #require(try await second.errors.line { $0.contains(", \(wait)") }, "\(second.errors.text)")
        let queue = second.errors.lines.first { $0.contains("the queue of this run is '") }?.split(separator: "'").dropFirst().first
        let status = try await fleet.text(["status", "--queue", String(try #require(queue))])
        #expect(status.contains(wait), "\(status)")
        second.signal(SIGINT)
        #expect(try await second.exitStatus == .exited(130))
        let rows: [Row] = try fleet.manifest()
        #expect(rows.map(\.outcome) == ["pending"] && rows[0].error?.class == "pending")
        #expect(rows[0].error?.message == "The run was interrupted before this URL ended. Another worker was fetching it.")
        first.kill()
        _ = try await first.exitStatus
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `the row of a URL that waited for its next attempt says how the last one failed`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let busy = try HostileServer(
            .readUntil("\r\n\r\n"),
            .send("HTTP/1.1 503 Busy\r\nRetry-After: 600\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close)
        let url = fleet.origin.url("/a", through: busy)
        let run = try fleet.start(["run", "--verbose", "-d", fleet.out, url] + fleet.local + fleet.connection)
        _ = try #require(try await run.errors.line { $0.contains("will be tried again") }, "\(run.errors.text)")
        run.signal(SIGINT)
        #expect(try await run.exitStatus == .exited(130))
        let rows: [Row] = try fleet.manifest()
        let end = "Its last attempt failed (http-503): The server answered 503 (\(url))."
        #expect(rows.map(\.error?.message) == ["The run was interrupted before this URL ended. \(end)"])
        try await busy.stop()
        try await fleet.stop()
    }

    @Test func `the deadline of a run ends it, and all URLs that are left have failed`() async throws {
        let fleet = try await Fleet.start(files: 40)
        let gate = try fleet.gateList(after: 20)
        let words = fleet.run + ["--concurrency", "2", "--drain-timeout", "0s", "--deadline"]
        let first = try fleet.start(words + ["3s"])
        #expect(try await first.exitStatus == .exited(1))
        try await first.errors.finished()
        #expect(first.errors.text.contains("the time of '--deadline' is over: the run ends, and the URLs that are left count as failed."))
        try await first.output.finished()
        let rows: [Row] = try fleet.manifest()
        // How far it comes in that time depends on the machine. The first two behind the twentieth never end.
        let fetched = rows.count { $0.outcome == "fetched" }
        #expect(fetched <= 20 && rows.count == 42 && rows.count { $0.outcome == "failed" } == 42 - fetched)
        #expect(
            first.output.text.hasPrefix("\(fetched) URLs fetched, \(42 - fetched) failed (unfinished \(42 - fetched)); 42 rows, "),
            "\(first.output.text)")
        #expect(Set(rows.compactMap(\.error?.message)) == ["The run was ended by '--deadline' before this URL ended."])
        #expect(try await fleet.queueKeys() == .list([]))
        let second = try await fleet.outcome(words + ["1h"])
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.hasPrefix("\(42 - fetched) URLs fetched, \(fetched) there already, 0 failed; "), "\(second.output)")
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a run whose worker is asked to drain ends with what there is`() async throws {
        let fleet = try await Fleet.start(files: 40)
        let gate = try fleet.gateList(after: 20)
        let first = try await fleet.start(fleet.run + ["--concurrency", "2", "--drain-timeout", "0s"], untilFetched: 20)
        try await gate.accepted(2)
        let name = try await first.errors.line { $0.contains("the queue of this run is '") }
        let queue = try #require(name?.split(separator: "'").dropFirst().first.map(String.init))
        let drained = try await fleet.outcome(["workers", "drain", "--all", "--queue", queue] + fleet.connection)
        #expect(drained.status == 0, "\(drained.errors)")
        #expect(try await first.exitStatus == .exited(1))
        let rows: [Row] = try fleet.manifest()
        #expect(rows.count { $0.outcome == "fetched" } == 20)
        #expect(Set(rows.compactMap(\.error?.message)) == ["The run was ended by 'gannet workers drain' before this URL ended."])
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a run that was killed loses no URL`() async throws {
        let fleet = try await Fleet.start(files: 100)
        let gate = try fleet.gateList(after: 30)
        let words = fleet.run + ["--concurrency", "2", "--lease", "600s"]
        let first = try await fleet.start(words, untilFetched: 30)
        try await gate.accepted(2)
        first.kill()
        _ = try await first.exitStatus
        // The half-written file of the killed run is still there, and perhaps those of earlier ones.
        let fileManager = FileManager.default
        _ = fileManager.createFile(atPath: fleet.out + "/.gannet-left", contents: Data([1]))
        let second = try await fleet.outcome(words)
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.hasPrefix("72 URLs fetched, 30 there already, 0 failed; "))
        #expect(!fileManager.fileExists(atPath: fleet.out + "/.gannet-left"))
        try fleet.expectAllBodies()
        #expect(try await fleet.requests() == Dictionary(uniqueKeysWithValues: fleet.origin.files.map { ($0.path, 1) }))
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a changed list is not mistaken for the interrupted one`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let gate = try fleet.gateList(after: 2)
        let first = try await fleet.start(fleet.run + ["--concurrency", "2"], untilFetched: 2)
        try await gate.accepted(2)
        first.kill()
        _ = try await first.exitStatus
        try fleet.folder.write(Array(fleet.origin.urls[20...].joined(separator: "\n").utf8), to: "urls.txt")
        let second = try await fleet.outcome(fleet.run)
        #expect(second.status == 0)
        #expect(second.complaints == "")
        #expect(second.output.hasPrefix("10 URLs fetched, 0 failed; "))
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a run from standard input that a signal ended leaves nothing in Redis`() async throws {
        let fleet = try await Fleet.start(files: 10)
        let gate = try fleet.gateList(after: 4)
        let words = ["run", "-i", "-", "-d", fleet.out, "--concurrency", "2"] + fleet.local + fleet.connection
        let first = try fleet.start(words, input: fleet.list)
        try await gate.accepted(2)
        first.signal(SIGINT)
        _ = try await first.errors.line { $0.hasPrefix("gannet: stopping") }
        first.signal(SIGINT)
        #expect(try await first.exitStatus == .exited(130))
        try await first.errors.finished()
        #expect(first.errors.text.contains("the fetched files stay, and the same command with the same input fetches the rest."))
        #expect(try await fleet.queueKeys() == .list([]))
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a signal lets what is in flight end, also while the list is read`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gate = HostileServer.Gate()
        let origin = try HostileServer(
            .readUntil("\r\n\r\n"), .wait(for: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), .close)
        let path = fleet.folder.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let input = FileHandle(fileDescriptor: open(path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        let run = try fleet.start(["run", "-i", "-", "-d", fleet.out] + fleet.local + fleet.connection, input: path)
        try input.write(contentsOf: Data("http://127.0.0.1:\(origin.port)/\n".utf8))
        try await origin.accepted(1)
        run.signal(SIGINT)
        _ = try await run.errors.line { $0.hasPrefix("gannet: stopping; 1 URL in flight may end within ") }
        gate.open()
        #expect(try await run.exitStatus == .exited(130))
        try await run.errors.finished()
        #expect(!run.errors.text.contains("handing back"), "\(run.errors.text)")
        #expect(run.errors.text.contains("so far: 1 fetched"), "\(run.errors.text)")
        try await origin.stop()
        try await fleet.stop()
    }

    @Test func `a worker that ends on a signal is a success`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let words = fleet.work.filter { $0 != "--until-empty" }
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        let worker = try await fleet.start(words, untilFetched: 3)
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0))
        try await worker.output.finished()
        #expect(worker.output.text.hasPrefix("This worker: 3 fetched, 0 failed, "))
        try await fleet.stop()
    }

    @Test func `an interrupted enqueue leaves its batch open with the rows that it has accepted`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let feeder = try await fleet.startFeeding(["enqueue", "-i", "-"])
        feeder.child.signal(SIGINT)
        #expect(try await feeder.child.exitStatus == .exited(130))
        let batch = try await fleet.json(["batch", "list"])["batches"] as? [[String: Any]]
        #expect(batch?.first?["state"] as? String == "open" && batch?.first?["total"] as? Int == Fleet.chunk, "\(batch ?? [])")
        let offsets = try await fleet.answers(of: "{gannet}q:default:batch:1", "HGET", "offset")
        #expect(offsets.contains(.text("\(Fleet.chunk)")))
        try await fleet.stop()
    }
}
