import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct ExplainCommandTests {
    @Test func `a URL is explained before it is fetched, and after`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let before = try await fleet.text(["explain", "HTTP://u:secret@127.0.0.1:80/a/../b#x"])
        #expect(before.hasPrefix("url      http://127.0.0.1/b\nid       "))
        let none =
            "none in the queue 'default'. The same 'gannet run' command fetches the URLs that an interrupted run has left; 'gannet enqueue' makes a job"
        #expect(
            before.contains(
                "\noutcome  none is kept: a job for it is fetched\nheld by  nobody\njob      \(none)\nhost     127.0.0.1: 0 requests in flight\n"
            ))
        #expect(!before.contains("secret"))

        _ = try await fleet.text(["enqueue", "-i", fleet.list, fleet.origin.url("/nothing")])
        let ready = try await fleet.text(["explain", fleet.origin.urls[0]])
        #expect(ready.contains("\njob      ready, of the batch '"), "\(ready)")
        #expect(ready.contains("; a worker of the queue takes it ('gannet work' starts one)\n"), "\(ready)")
        #expect(try await fleet.outcome(fleet.work).status == 0)
        let json = try await fleet.json(["explain", fleet.origin.urls[0]])
        #expect(json["cached"] as? Bool == true && json["holder"] is NSNull)
        let outcome = try #require(json["outcome"] as? [String: Any])
        #expect(outcome["sha256"] as? String == fleet.origin.files[0].sha256 && outcome["httpStatus"] as? Int == 200)
        #expect(outcome["failed"] as? Bool == false && outcome["error"] is NSNull)
        let failed = try await fleet.text(["explain", fleet.origin.url("/nothing")])
        #expect(failed.contains("\noutcome  failed ") && failed.contains("404"))
        // Where the time went is known of failures and slow fetches.
        #expect(failed.contains("\ntimes    "))
        let times = try #require((try await fleet.json(["explain", fleet.origin.url("/nothing")])["outcome"] as? [String: Any])?["phases"])
        let names = ["redirects", "lookUp", "connect", "tls", "firstByte", "transfer"].map { "\($0)Seconds" }
        #expect(Set((try #require(times as? [String: Double])).keys) == Set(names))
        let dead = try #require(try await fleet.json(["jobs", "list", "--state", "dead"])["jobs"] as? [[String: Any]])
        #expect(Set((try #require(dead.first?["phases"] as? [String: Double])).keys) == Set(names))
        try await fleet.stop()
    }

    @Test func `explain describes the worker that fetches a URL, and counts the jobs that wait for it`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gate = try fleet.gateList(after: 0)
        let url = fleet.origin.url("/a.gate", through: gate)
        _ = try await fleet.text(["enqueue", url, url])
        let watch = try await fleet.watch()
        let worker = try fleet.start(fleet.work + ["--concurrency", "2", "--lease", "10m"])
        try await gate.accepted(1)
        try await watch.saw("\"RPUSH\"", "q:default:followers:")
        let json = try await fleet.json(["explain", url])
        #expect(json["waitingJobs"] as? Int == 1)
        let holder = try #require(json["holder"] as? [String: Any])
        #expect(holder["kind"] as? String == "worker" && holder["queue"] as? String == "default")
        #expect(try #require(holder["leaseSeconds"] as? Double) > 60)
        #expect((json["host"] as? [String: Any])?["inFlight"] as? Int == 1)
        worker.kill()
        _ = try await worker.exitStatus
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `explain says which command goes on with a URL that a run has left`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let gate = try fleet.gateList(after: 0)
        let url = fleet.origin.url("/a.gate", through: gate)
        let run = try fleet.start(fleet.run + ["--concurrency", "2", "--lease", "10m"])
        try await gate.accepted(2)
        run.kill()
        _ = try await run.exitStatus
        let killed = try await fleet.text(["explain", url])
        #expect(killed.contains("\njob      of a run (queue 'run-"), "\(killed)")
        #expect(killed.contains("the same 'gannet run' command goes on with it\n"), "\(killed)")
        try await gate.stop()
        try await fleet.stop()
    }

    @Test(arguments: [["explain"], ["get"], ["get", "--fetch"], ["get", "--meta"]])
    func `a text that is no URL is refused with the reason`(words: [String]) async throws {
        let outcome = try await Program(home: "/dev/null/none").run(words + ["ftp://h/"])
        #expect(outcome.status == 64)
        #expect(outcome.errors == "Error: This is no URL that can be fetched: only http and https are fetched, not 'ftp'.\n")
    }
}
