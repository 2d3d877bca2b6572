import Foundation
import GannetTestKit
import Testing

/// Runs that ask again for bodies that are there, and what their manifests say of it.
@Suite(.timeLimit(.minutes(2))) struct RefreshTests {
    private struct Row: Decodable {
        struct Failure: Decodable {
            let `class`: String
        }
        let url: String
        let outcome: String
        let result: String?
        let sha256: String?
        let lastSha256: String?
        let fetchedAt: String?
        let checkedAt: String?
        let finalUrl: String?
        let etag: String?
        let lastModified: String?
        let cacheControl: String?
        let error: Failure?
    }

    private static func rows(_ fleet: Fleet) throws -> [Row] { try fleet.manifest() }

    /// The statuses of the requests since so many.
    private static func statuses(_ fleet: Fleet, since count: Int) async throws -> [Int] {
        try await fleet.origin.requests().dropFirst(count).filter { $0.path.hasSuffix(".bin") }.map(\.status).sorted()
    }

    @Test func `a refreshed run asks whether bodies have changed, and its manifest says which have`() async throws {
        let fleet = try await Fleet.start(files: 6)
        let run = fleet.run + ["--robots", "ignore"]
        #expect(try await fleet.outcome(run).status == 0)
        let first = try Self.rows(fleet)
        #expect(first.allSatisfy { $0.result == "new" && $0.lastSha256 == nil && $0.fetchedAt != nil && $0.checkedAt == nil })
        #expect(first.allSatisfy { $0.etag?.hasPrefix("\"") == true && $0.lastModified?.hasSuffix("GMT") == true && $0.finalUrl == nil })
        try fleet.folder.write(contents(ofFile: fleet.out + "/manifest.jsonl"), to: "first.jsonl")

        try fleet.origin.replace("/3.bin", by: Array(repeating: 7, count: 30_000))
        let second = try await fleet.outcome(run + ["--refresh"])
        #expect(second.output.hasPrefix("1 URL fetched, 5 unchanged, 0 failed; "), "\(second.output)")
        #expect(try await Self.statuses(fleet, since: 6) == [200, 304, 304, 304, 304, 304])
        let rows = try Self.rows(fleet)
        #expect(rows.map(\.outcome) == ["revalidated", "revalidated", "revalidated", "fetched", "revalidated", "revalidated"])
        #expect(rows.map(\.result) == ["same", "same", "same", "changed", "same", "same"])
        #expect(rows[3].lastSha256 == first[3].sha256 && rows[3].sha256 != first[3].sha256 && rows[3].checkedAt == nil)
        #expect(rows[0].lastSha256 == nil && rows[0].fetchedAt == first[0].fetchedAt && rows[0].checkedAt ?? "" > rows[0].fetchedAt ?? "x")

        let diff = try await fleet.outcome(["diff", fleet.folder.file("first.jsonl"), fleet.out])
        #expect(
            diff.output.hasPrefix("changed  \(fleet.origin.urls[3])  (")
                && diff.output.hasSuffix("\n1 changed, 0 added, 0 removed, 0 failed, 0 mended, 5 as before\n"), "\(diff.output)")

        for (one, other, status) in [("first.jsonl", "out", 1), ("out", "out", 0)] {
            let words = ["diff", "--exit-code", fleet.folder.file(one), fleet.folder.file(other)]
            #expect(diff.status == 0)
            #expect(try await fleet.outcome(words).status == status, "\(one)")
        }

        // It has changed once.
        #expect(try await fleet.outcome(run).status == 0)
        #expect(try Self.rows(fleet).allSatisfy { $0.result == "same" && $0.lastSha256 == nil && $0.outcome == "cached" })

        // A body that is not what was fetched is no answer to the question whether it has changed.
        let file = try #require(try fleet.bodies().first { $0.hasSuffix("-4.bin") })
        try fleet.folder.write([1, 2, 3], to: "out/\(file)")
        let third = try await fleet.outcome(run + ["--max-age", "0s", "--json"])
        #expect(third.output.contains("\"fetched\":1,\"revalidated\":5,\"cached\":0,"), "\(third.output)")
        #expect(try await Self.statuses(fleet, since: 12) == [200, 304, 304, 304, 304, 304])
        #expect(try Self.rows(fleet).allSatisfy { $0.result == "same" })
        // They have been confirmed a moment ago.
        let fourth = try await fleet.outcome(run + ["--max-age", "1h"])
        #expect(fourth.output.hasPrefix("0 URLs fetched, 6 there already, 0 failed; "), "\(fourth.output)")
        #expect(try await fleet.origin.requests().count == 18)
        try await fleet.stop()
    }

    @Test func `a failure that may pass takes no body away, and the next run asks for it by its tag`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 3
            $0.directives =
                "location = /2.bin { if (-f $document_root/bad) { return 500; } } location = /1.bin { if (-f $document_root/bad) { return 404; } }"
        }
        let run = fleet.run + ["--robots", "ignore", "--retries", "0", "--refresh"]
        #expect(try await fleet.outcome(run).status == 0)
        let first = try Self.rows(fleet)
        try fleet.origin.replace("/bad", by: [1])
        let failed = try await fleet.outcome(run)
        #expect(
            failed.status == 1 && failed.output.hasPrefix("0 URLs fetched, 1 unchanged, 2 failed (http-404 1, http-500 1)"),
            "\(failed.output)")
        let rows = try Self.rows(fleet)
        #expect(rows.map(\.outcome) == ["revalidated", "failed", "failed"] && rows.map(\.result) == ["same", "failed", "failed"])
        #expect(rows[1].sha256 == nil && rows[1].error?.class == "http-404")
        #expect(rows[2].sha256 == first[2].sha256 && rows[2].etag == first[2].etag && rows[2].error?.class == "http-500")
        #expect(rows[2].fetchedAt == first[2].fetchedAt && rows[2].checkedAt == nil)
        let plain = try await fleet.outcome(fleet.run + ["--robots", "ignore", "--retries", "0"])
        #expect(plain.output.hasPrefix("0 URLs fetched, 2 there already, 1 failed (http-404 1)"), "\(plain.output)")
        // The body that stayed is a failed row, and the file of a confirmed one is none.
        let only = fleet.run + ["--robots", "ignore", "--retries", "0", "--only", "failed"]
        let asked = try await fleet.outcome(only)
        #expect(asked.output.hasPrefix("0 URLs fetched, 1 there already, 2 failed (http-404 1, http-500 1)"), "\(asked.output)")
        #expect(try Self.rows(fleet)[2].sha256 == first[2].sha256)
        try fleet.origin.remove("/bad")
        let other = try await fleet.outcome(only + ["--class", "timeout", "--class", "5xx"])
        #expect(other.output.hasPrefix("0 URLs fetched, 1 unchanged, 1 there already, 1 failed (http-404 1)"), "\(other.output)")
        let last = try await fleet.outcome(run)
        #expect(last.status == 0 && last.output.hasPrefix("1 URL fetched, 2 unchanged, 0 failed; "), "\(last.output)")
        #expect(try Self.rows(fleet).map(\.result) == ["same", "same", "same"])
        try await fleet.stop()
    }

    @Test(arguments: [["--refresh"], ["--max-age", "0s"]])
    func `a run that ends before it has asked again keeps the rows of bodies that are there`(again: [String]) async throws {
        let fleet = try await Fleet.start(files: 20)
        let run = fleet.run + ["--robots", "ignore"]
        #expect(try await fleet.outcome(run).status == 0)
        let files = try Self.rows(fleet).map(\.sha256)
        let lost = try #require(try fleet.bodies().first { $0.hasSuffix("-7.bin") })
        try FileManager.default.removeItem(atPath: fleet.out + "/" + lost)
        // Its server never answers, and it is the only one to be asked at a time.
        let gate = try HostileServer(scripts: [[.silence]])
        let urls = ["http://127.0.0.1:\(gate.port)/gate"] + fleet.origin.urls
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        let ended = try await fleet.outcome(
            run + again + ["--concurrency", "1", "--host-limit", "1", "--deadline", "1s", "--drain-timeout", "0s"])
        #expect(ended.status == 1, "\(ended.errors)")
        let rows = try Self.rows(fleet)
        #expect(rows[0].error?.class == "unfinished" && rows[8].error?.class == "unfinished" && rows[8].sha256 == nil)
        for (index, row) in rows.enumerated() where index != 0 && index != 8 {
            #expect(row.sha256 == files[index - 1] && row.error == nil, "\(row)")
            #expect(row.outcome == "cached" ? row.result == nil : row.outcome == "revalidated", "\(row)")
        }
        let left = rows.count { $0.outcome == "cached" }
        #expect(left > 0 && ended.output.contains(", \(left) not asked again, 2 failed (unfinished 2)"), "\(ended.output)")
        try await fleet.stop()
        withExtendedLifetime(gate) {}
    }

    @Test func `a body that failed in between is compared with the last one that was there`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 2
            $0.directives = "location = /moved { return 302 /1.bin; }"
        }
        try fleet.folder.write(Array("\(fleet.origin.url("/moved"))\n\(fleet.origin.url("/late.bin"))\n".utf8), to: "urls.txt")
        try fleet.origin.replace("/late.bin", by: [1])
        let run = fleet.run + ["--retries", "0", "--refresh"]
        #expect(try await fleet.outcome(run).status == 0)
        let first = try Self.rows(fleet)
        #expect(first[0].finalUrl == fleet.origin.urls[1] && first[1].finalUrl == nil)
        try fleet.origin.remove("/late.bin")
        #expect(try await fleet.outcome(run).status == 1)
        #expect(try Self.rows(fleet).map(\.result) == ["same", "failed"])
        #expect(try Self.rows(fleet)[1].lastSha256 == first[1].sha256)
        #expect(try Self.rows(fleet).map(\.outcome) == ["revalidated", "failed"])
        try fleet.origin.replace("/late.bin", by: [1, 2])
        #expect(try await fleet.outcome(run).status == 0)
        let last = try Self.rows(fleet)
        #expect(last.map(\.result) == ["same", "changed"] && last[1].lastSha256 == first[1].sha256)
        try await fleet.stop()
    }

    @Test func `bodies with a digest in their list, and archives, are asked for as a whole`() async throws {
        let fleet = try await Fleet.start(files: 2)
        let rows = fleet.origin.files.map { "\(fleet.origin.url($0.path)),\($0.sha256)" }
        try fleet.folder.write(Array((["url,hash"] + rows).joined(separator: "\n").utf8), to: "rows.csv")
        for words in [
            ["--verify", "sha256:hash", "-d", fleet.folder.file("a")], ["--output-format", "warc", "-d", fleet.folder.file("b")],
        ] {
            let run = ["run", "-i", fleet.folder.file("rows.csv"), "--refresh"] + words + fleet.local + fleet.connection
            for _ in 0..<2 {
                let outcome = try await fleet.outcome(run)
                #expect(outcome.output.hasPrefix("2 URLs fetched, 0 failed; "), "\(outcome.output) \(outcome.errors)")
            }
        }
        #expect(try await Self.statuses(fleet, since: 0) == Array(repeating: 200, count: 8))
        try await fleet.stop()
    }

    @Test func `'--only failed' fetches what the folder has not got, with a class only that, and looks at nothing else`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 2
            $0.directives = "location = /bad.bin { return 500; }"
        }
        let urls = [fleet.origin.urls[0], fleet.origin.url("/missing.bin"), fleet.origin.url("/bad.bin"), fleet.origin.urls[1]]
        try fleet.folder.write(Array(urls.prefix(3).joined(separator: "\n").utf8), to: "urls.txt")
        let run = fleet.run + ["--retries", "0", "--robots", "ignore"]
        #expect(try await fleet.outcome(run).status == 1)
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        // A file that is missing is no failed row.
        try FileManager.default.removeItem(atPath: fleet.out + "/" + #require(try fleet.bodies().first))

        let one = try await fleet.outcome(run + ["--only", "failed", "--class", "404"])
        #expect(one.status == 1 && one.errors.contains("gannet: 1 of 4 URLs is to be fetched.\n"), "\(one.errors)")
        #expect(try await fleet.origin.requests().dropFirst(3).map(\.path) == ["/missing.bin"])
        let rows = try Self.rows(fleet)
        #expect(rows.map(\.outcome) == ["cached", "failed", "failed", "pending"])
        #expect(rows.map { $0.error?.class } == [nil, "http-404", "http-500", "pending"])
        #expect(
            one.output.hasPrefix("0 URLs fetched, 1 there already, 2 failed (http-404 1, http-500 1), 1 not fetched yet; 4 rows, "),
            "\(one.output)")

        let all = try await fleet.outcome(run + ["--only", "failed"])
        #expect(all.output.hasPrefix("1 URL fetched, 1 there already, 2 failed "), "\(all.output)")
        #expect(try await Set(fleet.origin.requests().dropFirst(4).map(\.path)) == ["/missing.bin", "/bad.bin", "/1.bin"])

        for (words, reason) in [
            (["--class", "404"], "'--class' chooses among failures: give '--only failed' too."),
            (["--only", "failed", "--refresh"], "'--only failed' leaves all else as it is, and '--refresh' and '--max-age' do not."),
            (["--only", "failed", "--class", "tiemout"], "Did you mean 'timeout'?"),
        ] {
            let wrong = try await fleet.outcome(run + words)
            #expect(wrong.status == 64 && wrong.errors.contains(reason), "\(wrong.errors)")
        }
        try await fleet.stop()
    }
}
