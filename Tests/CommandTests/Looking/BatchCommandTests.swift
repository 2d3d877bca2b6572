import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct BatchCommandTests {
    @Test func `batches are listed, the latest first`() async throws {
        let fleet = try await Fleet.start(files: 1)
        #expect(try await fleet.text(["batch", "list"]) == "")
        for name in ["first", "second", "third"] { _ = try await fleet.text(["enqueue", "http://h/\(name)", "--batch", name]) }
        let rows = try await fleet.text(["batch", "list"]).split(separator: "\n").map { $0.split(separator: " ").first.map(String.init) }
        #expect(rows == ["BATCH", "third", "second", "first"])
        let json = try await fleet.json(["batch", "list", "--limit", "2"])
        let batches = try #require(json["batches"] as? [[String: Any]])
        #expect(batches.map { $0["batch"] as? String } == ["third", "second"])
        #expect(json["total"] as? Int == 3)
        #expect(batches[0]["ready"] as? Int == 1 && batches[0]["progress"] as? Double == 0)
        try await fleet.stop()
    }

    @Test func `a batch is shown with the outcomes of its jobs`() async throws {
        let fleet = try await Fleet.start(files: 3)
        _ = try await fleet.text(["enqueue", "-i", fleet.list, fleet.origin.url("/nothing"), "--batch", "b", "--priority", "low"])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        let text = try await fleet.text(["batch", "show", "b"])
        #expect(text.hasPrefix("batch      b\nqueue      default\nstate      complete\npriority   low\n"))
        #expect(text.contains("\nprogress   100 % of 4\ndone       3\nfailed     1\n"))
        let json = try await fleet.json(["batch", "show", "b"])
        let names: Set = [
            "schema", "queue", "batch", "state", "priority", "refresh", "maxAgeSeconds", "headers", "robots", "optOuts", "keepsWire",
            "cache",
            "traceID",
            "ageSeconds", "progress", "total", "done", "failed", "disallowed", "cancelled", "ready", "active", "parked", "delayed",
            "lostPartitions",
        ]
        #expect(Set(json.keys) == names)
        #expect(json["total"] as? Int == 4 && json["ready"] as? Int == 0 && json["progress"] as? Double == 1)
        #expect(json["ageSeconds"] is Double && json["maxAgeSeconds"] is NSNull)
        try await fleet.stop()
    }

    @Test func `the error about an unknown batch names it, and says how to list batches`() async throws {
        let fleet = try await Fleet.start(files: 1)
        for words in [["show"], ["wait"], ["cancel"]] {
            let outcome = try await fleet.outcome(["batch"] + words + ["nope"] + fleet.connection)
            #expect(outcome.status == 64)
            #expect(
                outcome.errors == "Error: There is no batch 'nope' in the queue 'default'; 'gannet batch list' shows those there are.\n")
        }
        try await fleet.stop()
    }

    @Test func `waiting ends with the batch, with the time, or with a signal`() async throws {
        let fleet = try await Fleet.start(files: 2)
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b"])
        // On a busy machine the time may be over before Redis has answered, which the command tells in other words.
        try await withGrowingTime(from: .milliseconds(50), upTo: .seconds(20)) { time in
            let words = ["batch", "wait", "b", "--timeout", "\(Int(time / .milliseconds(1)))ms"]
            let late = try await fleet.outcome(words + fleet.connection)
            #expect(late.status == 75)
            if late.errors == "Error: Redis has not said in time how the batch stands.\n" { return false }
            #expect(late.output == "0 of 2 URLs done, 0 failed.\n")
            #expect(
                late.errors
                    == "Error: The batch was not complete in time: 2 of 2 have not ended.\n"
                    + "gannet: no worker is at work; 'gannet work' starts one.\n"
            )
            return true
        }

        let waiting = try fleet.start(["batch", "wait", "b"] + fleet.connection)
        #expect(try await fleet.outcome(fleet.work).status == 0)
        #expect(try await waiting.exitStatus == .exited(0))
        #expect(try await fleet.json(["batch", "wait", "b", "--timeout", "1s"])["state"] as? String == "complete")

        _ = try await fleet.text(["enqueue", "http://h/x", "--batch", "never"])
        let watch = try await fleet.watch()
        let endless = try fleet.start(["batch", "wait", "never"] + fleet.connection)
        // Before it connects, it listens for signals.
        try await watch.saw("\"SETNAME\" \"gannet")
        endless.signal(SIGINT)
        #expect(try await endless.exitStatus == .exited(130))
        try await fleet.stop()
    }

    @Test func `a batch that was not complete in time says what its jobs wait for`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", fleet.origin.urls[0], "--batch", "b", "--delay", "1h"])
        func wait() async throws -> String {
            let outcome = try await fleet.outcome(["batch", "wait", "b", "--timeout", "1s"] + fleet.connection)
            #expect(outcome.status == 75)
            return outcome.errors
        }
        #expect(try await wait().contains("gannet: no worker is at work; 'gannet work' starts one."))
        let worker = try fleet.start(["work"] + fleet.local + fleet.connection)
        try await eventually("the worker is listed") { (try await fleet.json(["workers", "list"])["workers"] as? [Any])?.count == 1 }
        #expect(try await wait().contains("gannet: 1 waits for its next attempt."))
        _ = try await fleet.text(["pause"])
        #expect(try await wait().contains("gannet: the queue is paused; 'gannet resume' lets it go on."))
        worker.terminate()
        _ = try await worker.exitStatus
        try await fleet.stop()
    }

    @Test func `waiting jobs of a cancelled batch end, and the batch accepts no more jobs`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let list = try fleet.list("list", 0..<5)
        _ = try await fleet.text(["enqueue", "-i", list, "--batch", "b"])
        #expect(try await fleet.text(["batch", "cancel", "b"]) == "Cancelled 5 jobs.\n")
        #expect(
            try await fleet.text(["batch", "cancel", "b"]) == "No job of the batch was waiting: 0 of 5 URLs done, 0 failed, 5 cancelled.\n"
        )
        #expect(try await fleet.json(["batch", "wait", "b"], status: 1)["state"] as? String == "cancelled")
        let totals = try await fleet.json(["status"])["totals"] as? [String: Any]
        #expect(totals?["cancelled"] as? Int == 5)
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("one", 0..<1), "--batch", "one"])
        #expect(try await fleet.text(["batch", "cancel", "one"]) == "Cancelled 1 job.\n")
        #expect(try await fleet.text(["batch", "cancel", "one"]).hasSuffix("0 of 1 URL done, 0 failed, 1 cancelled.\n"))
        let more = try await fleet.outcome(["enqueue", "-i", list, "--batch", "b"] + fleet.connection)
        #expect(more.status == 64 && more.output == "", "\(more)")
        #expect(more.errors.hasPrefix("Error: The batch was cancelled. Enqueue under another batch name.\n"), "\(more.errors)")
        try await fleet.stop()
    }
}
