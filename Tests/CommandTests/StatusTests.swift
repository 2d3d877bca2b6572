import Foundation
import GannetTestKit
import Testing

/// `status` as scripts and pipes meet it.
@Suite(.timeLimit(.minutes(2))) struct StatusTests {
    private static func keys(_ value: Any?) -> Set<String> { Set((value as? [String: Any] ?? [:]).keys) }

    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test func `the JSON has the contract's keys, for a queue that nobody knows as well`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let outcome = try await fleet.outcome(["status", "--json"] + fleet.connection)
        #expect(outcome.status == 0)
        let status = try Self.object(outcome.output)
        #expect(
            Set(status.keys) == [
                "schema", "queue", "paused", "jobs", "oldestReadySeconds", "totals", "failures", "waits", "rate", "etaSeconds", "hosts",
                "workers",
                "otherQueues", "partitions", "redis", "heldBatches",
            ])
        #expect(status["schema"] as? Int == 1 && status["queue"] as? String == "default" && status["paused"] as? Bool == false)
        #expect(Self.keys(status["jobs"]) == ["ready", "active", "parked", "delayed", "dead"])
        #expect(
            Self.keys(status["totals"]) == [
                "enqueued", "done", "fetched", "revalidated", "cached", "failed", "cancelled", "retried", "crashed", "fenced",
                "doubleFetches", "bytes", "disallowed",
            ])
        #expect(Self.keys(status["rate"]) == ["donePerSecond", "bytesPerSecond"])
        #expect(Self.keys(status["redis"]) == ["version", "usedMemoryBytes", "maxMemoryBytes", "pingMilliseconds"])
        #expect(status["oldestReadySeconds"] is NSNull && status["etaSeconds"] as? Int == 0)
        #expect((status["workers"] as? [Any])?.isEmpty == true)
        try await fleet.stop()
    }

    @Test func `status lists each worker at work with its details, and no worker that has ended`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let gate = try fleet.gateList(after: 10)
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection).status == 0)
        let worker = try fleet.start(["work", "--store", fleet.out, "--concurrency", "2"] + fleet.local + fleet.connection)
        try await gate.accepted(2)
        var status = try Self.object(try await fleet.outcome(["status", "--json"] + fleet.connection).output)
        let told = try #require((status["workers"] as? [[String: Any]])?.first)
        #expect(
            Set(told.keys) == ["id", "host", "pid", "version", "concurrency", "concurrencyBound", "active", "heartbeatSeconds", "state"])
        var name = [CChar](repeating: 0, count: 256)
        try #require(gethostname(&name, name.count) == 0)
        #expect(told["concurrency"] as? Int == 2)
        #expect(told["host"] as? String == String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        #expect(told["pid"] as? Int == Int(worker.pid))
        #expect((told["heartbeatSeconds"] as? Double).map { $0 >= 0 && $0 < 60 } == true)
        #expect((status["oldestReadySeconds"] as? Double).map { $0 >= 0 } == true)
        let text = try await fleet.outcome(["status"] + fleet.connection).output
        #expect(text.contains(fleet.row("ready", "20 (the oldest for ")) && text.contains("  JOBS  PLACES  "), "\(text)")
        worker.signal(SIGINT)
        _ = try await worker.errors.line { $0.hasPrefix("gannet: stopping") }
        worker.signal(SIGINT)
        _ = try await worker.exitStatus
        status = try Self.object(try await fleet.outcome(["status", "--json"] + fleet.connection).output)
        #expect((status["workers"] as? [Any])?.isEmpty == true)
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a run says how to look at it, and the status of an unknown queue names the run's queue`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let gate = try fleet.gateList(after: 10)
        let run = try fleet.start(fleet.run + ["--concurrency", "2"])
        let note = try #require(try await run.errors.line { $0.hasPrefix("gannet: the queue of this run is '") })
        let name = try #require(note.split(separator: "'").dropFirst().first.map(String.init))
        #expect(note == "gannet: the queue of this run is '\(name)'; 'gannet status --queue \(name) --redis …' shows it.")
        try await gate.accepted(2)
        let status = try await fleet.outcome(["status"] + fleet.connection)
        #expect(
            status.errors == "gannet: there is no queue 'default': nothing was put into it, or it was purged. There is '\(name)': "
                + "'--queue \(name)' shows it.\n")
        #expect(status.output.contains("\nOTHER QUEUES ") && status.output.contains("\n\(name) "), "\(status.output)")
        let own = try await fleet.outcome(["status", "--json", "--queue", name] + fleet.connection)
        #expect(own.errors == "")
        #expect((try Self.object(own.output)["otherQueues"] as? [Any])?.isEmpty == true)
        // Redis hears of outcomes a moment after their bodies are stored.
        try await eventually("22 URLs of the run are left") {
            let json = try Self.object(try await fleet.outcome(["status", "--json", "--quiet"] + fleet.connection).output)
            let other = try #require((json["otherQueues"] as? [[String: Any]])?.first)
            return other["queue"] as? String == name && other["notEnded"] as? Int == 22 && other["workers"] as? Int == 1
        }
        run.signal(SIGINT)
        _ = try await run.errors.line { $0.hasPrefix("gannet: stopping") }
        run.signal(SIGINT)
        _ = try await run.exitStatus
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `status says that a queue is unknown, and gives no estimate for a queue without a worker`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let none = try await fleet.outcome(["status", "--queue", "nothing"] + fleet.connection)
        #expect(none.status == 0)
        #expect(none.errors == "gannet: there is no queue 'nothing': nothing was put into it, or it was purged.\n")
        #expect(
            none.output.contains("\n" + fleet.row("progress", "there is no queue 'nothing': nothing was put into it, or it was purged\n")),
            "\(none.output)")
        #expect(["—", "-"].contains { none.output.contains("\n" + fleet.row("left", $0) + "\n") }, "\(none.output)")
        _ = try await fleet.text(["enqueue", "http://h/1", "http://h/2"])
        let waiting = try await fleet.outcome(["status"] + fleet.connection)
        #expect(waiting.errors == "")
        #expect(waiting.output.contains("\n" + fleet.row("progress", "0%: 0 of 2 ended\n")), "\(waiting.output)")
        #expect(waiting.output.contains("\n" + fleet.row("left", "no worker is at work; 'gannet work' starts one\n")), "\(waiting.output)")
        try await fleet.stop()
    }

    @Test func `status --watch writes lines of JSON to a pipe, until a signal or until nobody reads`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let child = try fleet.start(["status", "--watch", "--json"] + fleet.connection)
        for number in 0..<2 {
            let line = try #require(try await child.output.line(from: number) { !$0.isEmpty })
            #expect(try Self.object(line)["schema"] as? Int == 1)
        }
        child.signal(SIGTERM)
        #expect(try await child.exitStatus == .exited(143))
        let piped = try await fleet.outcome(script: "\"$0\" \"$@\" | head -n 1", ["status", "--watch", "--json"] + fleet.connection)
        #expect(piped.status == 0 && piped.errors.isEmpty)
        try await fleet.stop()
    }
}
