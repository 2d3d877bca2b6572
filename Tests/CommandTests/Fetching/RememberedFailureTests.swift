import Foundation
import GannetTestKit
import Testing

/// Failures that Redis remembers, as every command tells them.
@Suite(.timeLimit(.minutes(2))) struct RememberedFailureTests {
    @Test func `a skipped job's message says that the failure is remembered, until when, and how to look at it`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let url = fleet.origin.url("/nothing")
        for start in ["failed: The server answered 404 (\(url)).", "skipped: \(url) failed "] {
            _ = try await fleet.text(["enqueue", url])
            let worked = try await fleet.outcome(fleet.work)
            #expect(worked.errors.contains("\n\(start)"), "\(worked.errors)")
            #expect(worked.output.hasPrefix("This worker: 0 fetched, 1 failed (http-404 1), "))
            if start.hasPrefix("skipped") {
                #expect(worked.errors.contains(" ago (http-404); this is remembered for another 4 min "), "\(worked.errors)")
                #expect(worked.errors.contains(" s ('gannet explain \(url)')\n"), "\(worked.errors)")
            }
        }
        #expect(try await fleet.text(["explain", url]).contains("\nretry    in "))
        #expect(try await fleet.requests()["/nothing"] == 1)
        try await fleet.stop()
    }

    @Test func `a failure that 'get --fetch' met first has its reason in every command`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let url = fleet.origin.url("/nothing")
        let sentence = "The server answered 404 (\(url))."
        let fetched = try await fleet.outcome(["get", url, "--fetch"] + fleet.local + fleet.connection)
        #expect(fetched.status == 1 && fetched.errors == "failed: \(sentence)\n", "\(fetched.errors)")
        let explained = try await fleet.text(["explain", url])
        #expect(explained.contains(" ago: \(sentence)\n"), "\(explained)")
        try await fleet.fetchBatch(more: [url])
        #expect(try await fleet.text(["jobs", "list", "--state", "dead"]).contains(sentence))
        let jobs = try await fleet.json(["jobs", "list", "--state", "dead"])["jobs"] as? [[String: Any]]
        #expect((jobs?.first?["error"] as? [String: Any])?["message"] as? String == sentence)
        let exported = try await fleet.outcome(fleet.export)
        #expect(exported.errors == "failed: \(sentence)\n", "\(exported.errors)")
        #expect(try fleet.exported().compactMap { $0.error?.message } == [sentence])
        try await fleet.stop()
    }

    @Test func `'get --fetch' says that it answers from a remembered failure, and that '--refresh' asks again`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let url = fleet.origin.url("/nothing")
        let get = ["get", url, "--fetch"] + fleet.local + fleet.connection
        let sentence = "The server answered 404 (\(url))."
        let first = try await fleet.outcome(get)
        #expect(first.errors == "failed: \(sentence)\n", "\(first.errors)")
        let again = try await fleet.outcome(get)
        #expect(again.status == 1 && again.errors.hasPrefix("failed ") && again.errors.split(separator: "\n").count == 1)
        #expect(again.errors.contains(" s ago: \(sentence) This is remembered for another 4 min "), "\(again.errors)")
        #expect(again.errors.hasSuffix(" s; '--refresh' asks again.\n"), "\(again.errors)")
        #expect(try await fleet.requests()["/nothing"] == 1)
        #expect(try await fleet.outcome(get + ["--refresh"]).errors == "failed: \(sentence)\n")
        #expect(try await fleet.requests()["/nothing"] == 2)
        try await fleet.stop()
    }

    @Test func `'export --refetch' says which failures it remembers`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let server = try HostileServer(
            scripts: ["200 OK\r\nContent-Length: 1\r\n", "404 Gone\r\nContent-Length: 1\r\n"].map { head in
                [.readUntil("\r\n\r\n"), .send("HTTP/1.1 \(head)Connection: close\r\n\r\nx"), .close]
            })
        let url = "http://127.0.0.1:\(server.port)/a.gate"
        try await fleet.fetchBatch(more: [url])
        #expect(try await fleet.forgetBodies() > 0)
        let refetch = fleet.export + ["--refetch"] + fleet.local
        let sentence = "The server answered 404 (\(url))."
        let first = try await fleet.outcome(refetch)
        #expect(first.status == 1 && first.errors == "failed: \(sentence)\n", "\(first.errors)")
        let second = try await fleet.outcome(refetch)
        #expect(second.errors.hasPrefix("skipped: \(url) failed "), "\(second.errors)")
        #expect(second.errors.contains(" s ago (http-404); this is remembered for another 4 min "), "\(second.errors)")
        #expect(try fleet.exported().compactMap { $0.error?.message } == [sentence])
        try await server.stop()
        try await fleet.stop()
    }
}
