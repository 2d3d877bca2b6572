import Foundation
import GannetTestKit
import Testing

/// `enqueue --keep-wire`, and the archives that `export` writes of it.
@Suite(.timeLimit(.minutes(3))) struct ExchangeExportTests {
    private static let directives = """
        location = /moved { return 301 /3.bin; }
        location /packed/ { rewrite ^/packed(/.*)$ $1 break; gzip on; gzip_types *; gzip_min_length 1; }
        """

    private struct Row: Decodable {
        let url: String
        let outcome: String
        let sha256: String?
        let file: String?
    }

    private static func start() async throws -> Fleet {
        try await Fleet.start {
            $0.fileCount = 6
            $0.largestFile = 20_000
            $0.directives = directives
        }
    }

    private static let warc = ["--output-format", "warc"]

    /// Enqueues the list and three URLs more, and has a worker fetch them.
    private static func fetch(_ fleet: Fleet, batch: String = "b", _ options: [String], work: [String] = []) async throws {
        let urls = ["/moved", "/missing", "/packed/5.bin"].map(fleet.origin.url)
        let enqueued = try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", batch] + options + urls + fleet.connection)
        #expect(enqueued.status == 0, "\(enqueued.errors)")
        let worked = try await fleet.outcome(
            ["work", "--until-empty", "--retries", "0", "--user-agent", "tester/1"] + work + fleet.local + fleet.connection)
        #expect([0, 1].contains(worked.status), "\(worked.errors)")
    }

    private static func expectExchanges(_ fleet: Fleet) throws {
        let records = try ArchiveRecord.all(in: fleet.out)
        #expect(records.count { $0.kind == "resource" } == 0 && records.count { $0.kind == "request" } == 10)
        let answers = records.filter { $0.kind == "response" || $0.kind == "revisit" }
        #expect(answers.count == 10)
        let moved = try #require(answers.first { $0.url.hasSuffix("/moved") })
        #expect(moved.head.hasPrefix("HTTP/1.1 301 Moved Permanently\r\nServer: nginx"), "\(moved.head)")
        let packed = try #require(answers.first { $0.url.hasSuffix("/packed/5.bin") })
        #expect(packed.head.contains("\r\nContent-Encoding: gzip"))
        #expect(try sha256(of: ArchiveRecord.unpack(packed.body[...]).0) == fleet.origin.files[5].sha256)
        #expect(records.filter { $0.kind == "request" }.allSatisfy { $0.head.contains("\r\nUser-Agent: tester/1") })
        let rows: [Row] = try fleet.manifest()
        let missing = try #require(rows.first { $0.url.hasSuffix("/missing") })
        #expect(missing.outcome == "failed" && records.first { $0.place == missing.file }?.head.hasPrefix("HTTP/1.1 404 ") == true)
        for row in rows where row.outcome != "failed" {
            let record = try #require(records.first { $0.place == row.file })
            // A revisit names the record that has its body.
            if record.kind == "response", !record.head.contains("Content-Encoding") { #expect(sha256(of: record.body) == row.sha256) }
        }
        let files = try fleet.bodies()
        #expect(files.allSatisfy { $0.hasSuffix(".warc.gz") || $0.hasSuffix(".cdxj") }, "\(files)")
    }

    @Test func `an export writes what went over the wire, and a second one writes nothing`() async throws {
        let fleet = try await Self.start()
        try await Self.fetch(fleet, ["--keep-wire"])
        let shown = try await fleet.outcome(["batch", "show", "b"] + fleet.connection)
        #expect(
            shown.output.contains("keeps      requests and answers as they went over the wire, until they are exported\n"),
            "\(shown.output)")
        let first = try await fleet.outcome(fleet.export + Self.warc)
        #expect(first.status == 1, "\(first.errors)")
        try Self.expectExchanges(fleet)
        let files = try fleet.bodies()
        let second = try await fleet.outcome(fleet.export + Self.warc)
        #expect(second.output.contains("8 there already"), "\(second.output)")
        #expect(try fleet.bodies() == files)
        #expect(!FileManager.default.fileExists(atPath: fleet.out + "/.wire"))
        try await fleet.stop()
    }

    @Test func `workers with a folder keep exchanges there`() async throws {
        let fleet = try await Self.start()
        let store = fleet.folder.path + "/store"
        try await Self.fetch(fleet, ["--keep-wire"], work: ["--store", store])
        let outcome = try await fleet.outcome(fleet.export + Self.warc + ["--store", store])
        #expect(outcome.status == 1, "\(outcome.errors)")
        try Self.expectExchanges(fleet)
        try await fleet.stop()
    }

    @Test func `a URL that was fetched without its exchanges is fetched again, and only then`() async throws {
        let fleet = try await Self.start()
        try await Self.fetch(fleet, batch: "plain", [])
        let before = try await fleet.requests().values.reduce(0, +)
        try await Self.fetch(fleet, ["--keep-wire"])
        let between = try await fleet.requests().values.reduce(0, +)
        // The failure is remembered, and its exchange is not.
        #expect(between - before == 9)
        try await Self.fetch(fleet, batch: "c", ["--keep-wire"])
        #expect(try await fleet.requests().values.reduce(0, +) == between)
        try await fleet.stop()
    }

    @Test func `exchanges that are lost leave the bodies to the archive`() async throws {
        let fleet = try await Self.start()
        try await Self.fetch(fleet, ["--keep-wire"])
        // As an operator or a full Redis does it: the largest entries are bodies, and exchanges are small.
        let script = """
            local n = 0
            for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
                if redis.call('TYPE', key).ok == 'string' and string.byte(redis.call('GETRANGE', key, 0, 0) or '') == 1
                    and string.find(redis.call('GET', key), 'HTTP/1.1', 1, true) then n = n + redis.call('DEL', key) end
            end
            return n
            """
        var removed = 0
        for node in fleet.store.nodes {
            let answer = try await node.command("EVAL", script, "0", fleet.everywhere("{gannet:blob}:") + "*")
            removed += try #require(answer.text.flatMap { Int($0) }, "\(answer)")
        }
        #expect(removed == 9)
        let outcome = try await fleet.outcome(fleet.export + Self.warc)
        #expect(outcome.status == 1, "\(outcome.errors)")
        let records = try ArchiveRecord.all(in: fleet.out)
        #expect(records.map(\.kind) == ["warcinfo"] + Array(repeating: "resource", count: 8))
        try await fleet.stop()
    }

    @Test func `exchanges are never joined with the body of another fetch`() async throws {
        let fleet = try await Self.start()
        try await Self.fetch(fleet, ["--keep-wire"])
        // As a killed export leaves them: those of the bodies before.
        let kept = fleet.folder.path + "/kept"
        let store = fleet.folder.path + "/store"
        try await Self.fetch(fleet, batch: "c", ["--keep-wire", "--refresh"], work: ["--store", store])
        let other = ["export", "--batch", "c", "-d", kept, "--output-format", "warc", "--store", store] + fleet.connection
        try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: store + "/.wire", toPath: kept + "/.wire")
        // Each file has the exchanges of the URL before it, as if all had been fetched anew with other bodies.
        let files = try FileManager.default.subpathsOfDirectory(atPath: kept + "/.wire").filter { $0.count > 32 }.sorted()
        let contents = try files.map { try Data(contentsOf: URL(fileURLWithPath: kept + "/.wire/" + $0)) }
        for (index, file) in files.enumerated() {
            try contents[(index + 1) % files.count].write(to: URL(fileURLWithPath: kept + "/.wire/" + file))
        }
        #expect(try await fleet.outcome(other).status == 1)
        let records = try ArchiveRecord.all(in: kept)
        #expect(records.count { $0.kind == "request" } == 10 && records.count { $0.kind == "resource" } == 0)
        for file in fleet.origin.files {
            let answer = records.first { $0.kind == "response" && $0.url == fleet.origin.url(file.path) }
            #expect(answer.map { sha256(of: $0.body) } == file.sha256 || answer == nil, "\(file)")
        }
        // The same without the right ones in the store: bodies alone.
        let alone = fleet.folder.path + "/alone"
        try FileManager.default.createDirectory(atPath: alone, withIntermediateDirectories: false)
        try FileManager.default.removeItem(atPath: store + "/.wire")
        let last = try await fleet.outcome(
            ["export", "--batch", "c", "-d", alone, "--output-format", "warc", "--store", store] + fleet.connection)
        #expect(last.errors.contains("9 URLs without what went over the wire"), "\(last.errors)")
        #expect(try ArchiveRecord.all(in: alone).count { $0.kind == "resource" } == 8)
        try await fleet.stop()
    }

    @Test func `a linked folder of exchanges is neither read nor emptied, and a store is not packed`() async throws {
        let fleet = try await Self.start()
        let store = fleet.folder.path + "/store"
        try await Self.fetch(fleet, ["--keep-wire"], work: ["--store", store])
        let same = try await fleet.outcome(
            ["export", "--batch", "b", "-d", store, "--output-format", "warc", "--store", store] + fleet.connection)
        #expect(same.status == 64 && same.errors.contains("is that of '--store'"), "\(same.errors)")
        let elsewhere = fleet.folder.path + "/elsewhere"
        try FileManager.default.moveItem(atPath: store + "/.wire", toPath: elsewhere)
        let before = try FileManager.default.subpathsOfDirectory(atPath: elsewhere).sorted()
        for folder in [store, fleet.out] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: folder + "/.wire", withDestinationPath: elsewhere)
        }
        _ = try await fleet.outcome(fleet.export + Self.warc + ["--store", store])
        #expect(try FileManager.default.subpathsOfDirectory(atPath: elsewhere).sorted() == before)
        #expect(try ArchiveRecord.all(in: fleet.out).allSatisfy { $0.kind == "resource" || $0.kind == "warcinfo" })
        try await fleet.stop()
    }
}
