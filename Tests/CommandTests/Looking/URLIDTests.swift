import Foundation
import GannetTestKit
import Testing

/// The ids of URLs, as people see and type them.
@Suite(.timeLimit(.minutes(2))) struct URLIDTests {
    private func id(_ fleet: Fleet, _ url: String) async throws -> String {
        try #require(try await fleet.json(["explain", url])["id"] as? String)
    }

    @Test func `a listing, an explanation and a log show the same digits, and a command takes them for the URL`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let url = fleet.origin.urls[1]
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        let whole = try await id(fleet, url)
        let short = String(whole.prefix(12))
        #expect(whole.count == 32)
        #expect(try await fleet.text(["explain", url]).contains("\nid       \(short)\n"))
        let listed = try await fleet.text(["jobs", "list"])
        #expect(listed.contains("  \(short)  \(url)\n"), "\(listed)")
        let jobs = try #require(try await fleet.json(["jobs", "list", "--state", "ready"])["jobs"] as? [[String: Any]])
        #expect(jobs.contains { $0["id"] as? String == whole && $0["url"] as? String == url })
        for digits in [short, whole, String(whole.prefix(7)), short.uppercased()] {
            #expect(try await fleet.text(["explain", digits]).hasPrefix("url      \(url)\nid       \(short)\n"), "\(digits)")
        }

        let worked = try await fleet.outcome(["work", "--until-empty", "--verbose"] + fleet.local + fleet.connection)
        #expect(worked.errors.contains("[job \(short), batch "), "\(worked.errors)")
        // From here on the URL has an outcome and no job.
        for digits in [short, whole, String(whole.prefix(7))] {
            #expect(try await fleet.text(["explain", digits]).contains("\noutcome  fetched "), "\(digits)")
            #expect(try await fleet.text(["get", "--meta", digits]).hasPrefix(#"{"url":"\#(url)","#))
            let body = try await fleet.outcome(["get", digits, "-o", fleet.folder.file("body")] + fleet.connection)
            #expect(body.status == 0, "\(body.errors)")
            #expect(sha256(of: try contents(ofFile: fleet.folder.file("body"))) == fleet.origin.files[1].sha256)
        }
        let again = try await fleet.outcome(
            ["get", "--fetch", "--refresh", short, "-o", fleet.folder.file("again")] + fleet.local + fleet.connection)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try await fleet.requests()["/1.bin"] == 2)
        try await fleet.stop()
    }

    @Test func `digits that begin several ids, or none, are exit 64 and a sentence`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("list", 0..<200)])
        let jobs = try #require(try await fleet.json(["jobs", "list", "--state", "ready", "--limit", "1000"])["jobs"] as? [[String: Any]])
        let ids = jobs.compactMap { $0["id"] as? String }
        #expect(Set(ids).count == 200)
        let several = try #require(Dictionary(grouping: ids) { $0.prefix(1) }.first { $0.value.count > 1 })
        for command in [["explain"], ["get"], ["get", "--fetch"]] {
            let ambiguous = try await fleet.outcome(command + [String(several.key)] + fleet.connection)
            #expect(ambiguous.status == 64 && ambiguous.output == "")
            #expect(ambiguous.errors == "Error: \(several.value.count) URLs have ids that begin with '\(several.key)': give more digits.\n")
            let digits = try #require(
                (0..<10_000).lazy.map { String($0) }.first { text in text.count == 4 && !ids.contains { $0.hasPrefix(text) } })
            let unknown = try await fleet.outcome(command + [digits] + fleet.connection)
            #expect(unknown.status == 64 && unknown.output == "")
            #expect(unknown.errors == "Error: No job and no kept outcome has a URL whose id begins with '\(digits)'.\n")
        }
        let header = try await fleet.outcome(["explain", ids[0], "--header", "X-Key: 1"] + fleet.connection)
        #expect(header.status == 64 && header.errors.hasPrefix("Error: '--header' goes with a URL, not with the digits of an id.\n"))
        try await fleet.stop()
    }

    @Test func `a URL with headers is explained by its id, and is not fetched by it`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let url = fleet.origin.url("/0.bin")
        _ = try await fleet.text(["enqueue", url, "--header", "X-Key: 1"])
        let jobs = try #require(try await fleet.json(["jobs", "list", "--state", "ready"])["jobs"] as? [[String: Any]])
        let id = try #require(jobs.first?["id"] as? String)
        #expect(try await fleet.text(["explain", id]).hasPrefix("url      \(url)\nid       \(id.prefix(12))\nheaders  some, "))
        let refused = try await fleet.outcome(["get", "--fetch", id] + fleet.connection)
        #expect(refused.status == 64)
        #expect(
            refused.errors.contains("The requests of this URL have headers, which only its batch knows: name the URL with its '--header'."))
        try await fleet.stop()
    }

    @Test func `a search for an id ends after a bounded number of calls, and says so`() async throws {
        // A server of its own, which need not be emptied.
        let fleet = try await Fleet.start(.counts, files: 1, redis: { _ in })
        _ = try await fleet.text(["enqueue", "http://h/"])
        // More keys than a search looks at, none of them an outcome of this namespace.
        let fill = "for i = 1, 250000 do redis.call('SET', ARGV[1] .. i, '') end return 1"
        for part in 0..<5 { _ = try await fleet.redis.command("EVAL", fill, "0", "other:\(part):") }
        let outcome = try await fleet.outcome(["explain", "00000"] + fleet.connection)
        #expect(outcome.status == 64)
        #expect(
            outcome.errors.hasSuffix(
                "as far as the search went: it ends after 1000000 keys of Redis and 100000 jobs: name the URL itself.\n"),
            "\(outcome.errors)")
        let calls = try await fleet.redis.command("INFO", "commandstats").text ?? ""
        let scans = try #require(calls.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_scan:") })
        #expect(scans.hasPrefix("cmdstat_scan:calls=200,"), "\(scans)")
        #expect(!calls.contains("cmdstat_keys:"))
        try await fleet.stop()
    }
}
