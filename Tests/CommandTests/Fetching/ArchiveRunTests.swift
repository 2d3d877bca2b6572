import Foundation
import GannetTestKit
import Testing

/// `run --output-format warc`, by the real binary at a real origin.
@Suite(.timeLimit(.minutes(3))) struct ArchiveRunTests {
    private static let warc = ["--output-format", "warc"]

    private static let directives = """
        location = /moved { return 301 /3.bin; }
        location /packed/ { rewrite ^/packed(/.*)$ $1 break; gzip on; gzip_types *; gzip_min_length 1; }
        location = /reserved { add_header X-Robots-Tag noai; return 200 "not for you"; }
        """

    private struct Row: Decodable {
        let url: String
        let outcome: String
        let httpStatus: Int?
        let sha256: String?
        let file: String?
    }

    private static func manifest(_ fleet: Fleet) throws -> [Row] { try fleet.manifest() }

    private static func start(files: Int = 6, largest: Int = 20_000, certificate: Certificates.Certificate? = nil) async throws -> Fleet {
        try await Fleet.start {
            $0.fileCount = files
            $0.largestFile = largest
            $0.directives = directives
            $0.certificate = certificate
        }
    }

    /// Each row's place has the answer of its URL. Of a revisit the body is elsewhere.
    private static func expectPlaces(_ fleet: Fleet, _ records: [ArchiveRecord], _ location: SourceLocation = #_sourceLocation) throws {
        let byPlace = Dictionary(uniqueKeysWithValues: records.map { ($0.place, $0) })
        for row in try manifest(fleet) {
            let record = byPlace[row.file ?? ""]
            #expect(record?.url == row.url && record?.kind != "request", "\(row)", sourceLocation: location)
            if record?.kind == "response", record?.head.contains("Content-Encoding") == false, let sha256 = row.sha256 {
                #expect(GannetTestKit.sha256(of: record?.body ?? []) == sha256, "\(row)", sourceLocation: location)
            }
        }
    }

    @Test func `a run writes what went over the wire, also redirects and errors, and its rows end as usual`() async throws {
        // A body beyond 128 KB lies in a file of its own until it is in the archive.
        let fleet = try await Self.start(largest: 2_000_000)
        #expect(fleet.origin.files.contains { $0.size > 128 << 10 })
        let more = ["/moved", "/missing", "/packed/5.bin"].map(fleet.origin.url)
        let secret = ["--header", "X-Api-Key: hidden", "--user-agent", "tester/1", "--retries", "0"]
        let outcome = try await fleet.outcome(fleet.run + Self.warc + secret + more)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("8 URLs fetched, 1 failed (http-404 1); 9 rows, "), "\(outcome.output)")
        #expect(try fleet.bodies().allSatisfy { $0.hasSuffix(".warc.gz") || $0.hasSuffix(".cdxj") })
        let records = try ArchiveRecord.all(in: fleet.out)
        #expect(records.first?.kind == "warcinfo")
        #expect(
            records.first.map { String(decoding: $0.body, as: UTF8.self) + $0.head }?.contains("http-header-user-agent: tester/1") == true)
        let requests = records.filter { $0.kind == "request" }
        #expect(requests.count == 10)
        #expect(
            requests.allSatisfy {
                $0.head.hasPrefix("GET /") && $0.head.contains("\r\nUser-Agent: tester/1") && !$0.head.contains("hidden")
            })
        let answers = records.filter { $0.kind == "response" }
        for file in fleet.origin.files {
            let same = answers.filter { $0.url == fleet.origin.url(file.path) }
            #expect(same.first.map { sha256(of: $0.body) } == file.sha256, "\(file)")
        }
        let moved = try #require(answers.first { $0.url.hasSuffix("/moved") })
        #expect(moved.head.hasPrefix("HTTP/1.1 301 Moved Permanently\r\nServer: nginx") && moved.head.contains("\r\nLocation: "))
        let missing = try #require(answers.first { $0.url.hasSuffix("/missing") })
        #expect(missing.head.hasPrefix("HTTP/1.1 404 ") && String(decoding: missing.body, as: UTF8.self).contains("404 Not Found"))
        let packed = try #require(answers.first { $0.url.hasSuffix("/packed/5.bin") })
        #expect(packed.head.contains("\r\nContent-Encoding: gzip") && packed.head.contains("\r\nX-Archive-Orig-Transfer-Encoding: chunked"))
        #expect(try sha256(of: ArchiveRecord.unpack(packed.body[...]).0) == fleet.origin.files[5].sha256)
        #expect(answers.allSatisfy { $0.fields["warc-ip-address"] == "127.0.0.1" && $0.fields["warc-protocol"] == "http/1.1" })
        // The row of a redirect names the answer that it led to.
        let rows = try Self.manifest(fleet)
        let redirected = try #require(rows.first { $0.url.hasSuffix("/moved") }?.file)
        #expect(records.first { $0.place == redirected }?.url == fleet.origin.url("/3.bin"))
        #expect(
            rows.first { $0.url.hasSuffix("/missing") }.map { $0.outcome == "failed" && $0.httpStatus == 404 && $0.file != nil } == true)

        let again = try await fleet.outcome(fleet.run + Self.warc + secret + more)
        #expect(again.output.hasPrefix("0 URLs fetched, 8 there already, 1 failed "), "\(again.output)")
        try await fleet.stop()
    }

    @Test func `an archive has an answer of HTTP 2 in the form of HTTP 1, and no answer that reserves its use`() async throws {
        let certificates = try await Certificates.shared
        let fleet = try await Self.start(files: 2, certificate: certificates.good)
        let port = try #require(fleet.origin.tlsPort)
        let urls = ["https://localhost:\(port)/1.bin", fleet.origin.url("/reserved")]
        let outcome = try await fleet.outcome(
            ["run", "-d", fleet.out, "--ca-file", certificates.authority, "--opt-outs", "heed"] + Self.warc + fleet.local + fleet.connection
                + urls)
        #expect(outcome.output.hasPrefix("1 URL fetched, 0 failed, 1 not permitted by its site; "), "\(outcome.output)\(outcome.errors)")
        let records = try ArchiveRecord.all(in: fleet.out)
        #expect(records.map(\.kind) == ["warcinfo", "response", "request"])
        #expect(
            records[1].fields["warc-protocol"] == "h2" && records[1].head.hasPrefix("HTTP/1.1 200 \r\nserver: nginx"), "\(records[1].head)")
        #expect(records[1].body.count == 1 && records[2].head.hasPrefix("GET /1.bin HTTP/1.1\r\nHost: localhost:\(port)\r\n"))
        try await fleet.stop()
    }

    @Test func `the run after a killed one completes its archive, and repeats no row that is in it`() async throws {
        let fleet = try await Self.start(files: 200)
        let gate = try fleet.gateList(after: 50)
        let run = fleet.run + Self.warc
        let first = try await fleet.start(run + ["--concurrency", "8"], untilFetched: 60)
        // The second run's requests are answered.
        try await gate.accepted(2)
        first.kill()
        _ = try await first.exitStatus
        #expect(try fleet.bodies().contains { $0.hasSuffix(".warc.gz.open") })
        let second = try await fleet.outcome(run)
        #expect(second.status == 0, "\(second.errors)")
        #expect(try fleet.bodies().allSatisfy { $0.hasSuffix(".warc.gz") || $0.hasSuffix(".cdxj") })
        let records = try ArchiveRecord.all(in: fleet.out)
        #expect(records.count { $0.kind == "warcinfo" } == 2)
        try Self.expectPlaces(fleet, records)
        #expect(try Self.manifest(fleet).count { $0.outcome == "cached" } >= 60)
        // Only requests of rows that had not ended are made again.
        #expect(try await fleet.requests().values.reduce(0, +) <= 200 + 16)
        try await fleet.stop()
        withExtendedLifetime(gate) {}
    }

    @Test func `a run fetches the rows of a missing archive again, and rows that are too old`() async throws {
        let fleet = try await Self.start(files: 60)
        let run = fleet.run + Self.warc + ["--archive-size", "100kB", "--concurrency", "1"]
        #expect(try await fleet.outcome(run).status == 0)
        let archives = try fleet.bodies().filter { $0.hasSuffix(".warc.gz") }.sorted()
        #expect(archives.count > 1)
        let lost = try Self.manifest(fleet).filter { $0.file?.hasPrefix(archives[0]) == true }
        try FileManager.default.removeItem(atPath: fleet.out + "/" + archives[0])
        let second = try await fleet.outcome(run)
        #expect(second.output.hasPrefix("\(lost.count) URLs fetched, \(60 - lost.count) there already, 0 failed; "), "\(second.output)")
        #expect(second.errors.contains("gannet: \(lost.count) records of an earlier run are missing or changed.\n"), "\(second.errors)")
        try Self.expectPlaces(fleet, ArchiveRecord.all(in: fleet.out))
        let old = try await fleet.outcome(run + ["--max-age", "0s"])
        #expect(old.status == 0 && old.output.contains(" 0 failed"), "\(old.output)")
        try await fleet.stop()
    }

    @Test func `a folder keeps the format that it was begun with`() async throws {
        let fleet = try await Self.start(files: 2)
        #expect(try await fleet.outcome(fleet.run + Self.warc).status == 0)
        let other = try await fleet.outcome(fleet.run)
        #expect(other.status == 64)
        #expect(
            other.errors
                == "Error: The folder \(fleet.out) was begun with '--output-format warc'. Choose that format, or another folder.\n",
            "\(other.errors)")
        let files = fleet.folder.file("files")
        #expect(try await fleet.outcome(["run", "-i", fleet.list, "-d", files] + fleet.local + fleet.connection).status == 0)
        let refused = try await fleet.outcome(["run", "-i", fleet.list, "-d", files] + Self.warc + fleet.local + fleet.connection)
        #expect(refused.status == 64 && refused.errors.contains("was begun with '--output-format files'"), "\(refused.errors)")
        for (words, message) in [(["--serve"], "'--serve' shows files of bodies"), (["--name", "host"], "'--name' names files of bodies")] {
            let wrong = try await fleet.outcome(fleet.run + Self.warc + words)
            #expect(wrong.status == 64 && wrong.errors.contains(message), "\(wrong.errors)")
        }
        try await fleet.stop()
    }
}
