import Foundation
import GannetBase
import GannetTestKit
import Results
import Testing

/// `run --output-format shards`, by the real binary at a real origin. `Scripts/check shards` has webdataset read them.
@Suite(.timeLimit(.minutes(3))) struct ShardRunTests {
    private struct Row: Decodable {
        struct Failure: Decodable {
            let `class`: String
            let message: String
        }
        let outcome: String
        let file: String?
        let carried: [String: String?]?
        let error: Failure?

        /// The part of the file's name behind its first dot.
        var ending: Substring? { file?.split(separator: "/").last?.split(separator: ".", maxSplits: 1).last }
    }

    private static let shards = ["--output-format", "shards"]

    private static func start(files: Int) async throws -> Fleet {
        try await Fleet.start {
            $0.fileCount = files
            $0.largestFile = 20_000
        }
    }

    /// The keys of all samples, and the names of the files in the folder.
    private static func shards(_ fleet: Fleet) throws -> (keys: [[String]], files: [String]) {
        let numbers = try ShardWriter.shards(in: fleet.out)
        return (try numbers.map { try ShardWriter.samples(inShard: $0, of: fleet.out).map(\.key) }, try fleet.bodies().sorted())
    }

    @Test func `a run packs the bodies of its list, and the same command again has nothing to do`() async throws {
        let fleet = try await Self.start(files: 25)
        let run = fleet.run + Self.shards + ["--samples-per-shard", "10"]
        let outcome = try await fleet.outcome(run)
        #expect(outcome.status == 0 && outcome.output.hasPrefix("25 URLs fetched, 0 failed; "), "\(outcome.errors)")
        let (keys, files) = try Self.shards(fleet)
        #expect(keys.map(\.count) == [10, 10, 5] && Set(keys.joined()).count == 25)
        #expect(files == ["00000.tar", "00001.tar", "00002.tar"])
        let again = try await fleet.outcome(run)
        #expect(again.status == 0 && again.output.hasPrefix("0 URLs fetched, 25 there already, 0 failed; "), "\(again.output)")
        #expect(try Self.shards(fleet) == (keys, files))
        #expect(try await fleet.requests().values.allSatisfy { $0 == 1 })
        try await fleet.stop()
    }

    @Test func `the run after a killed one fetches only what had not ended, and goes on with the next shard`() async throws {
        let fleet = try await Self.start(files: 200)
        #expect(
            try await fleet.outcome(["run", "-d", fleet.out, fleet.origin.url("/1.bin")] + Self.shards + fleet.local + fleet.connection)
                .status == 0)
        // Two more URLs, which answer to the second run only.
        let gate = try fleet.gateList(after: 50)
        let run = fleet.run + Self.shards + ["--samples-per-shard", "64"]
        let first = try await fleet.start(run + ["--concurrency", "8"], untilFetched: 60)
        try await gate.accepted(2)
        first.kill()
        _ = try await first.exitStatus
        let second = try await fleet.outcome(run)
        #expect(second.status == 0, "\(second.errors)")
        let (keys, files) = try Self.shards(fleet)
        #expect(keys.map(\.count) == [1, 64, 64, 64, 9] && Set(keys.joined()).count == 202)
        #expect(files == (0..<5).map { "0000\($0).tar" })
        // Only requests of rows that had not ended are made again.
        #expect(try await fleet.requests().values.reduce(0, +) <= 200 + 16)
        try await fleet.stop()
        withExtendedLifetime(gate) {}
    }

    /// Bodies by the names of their URLs, each with the type as which it is served and the ending of its sample. A false picture has a clause
    /// about it.
    private static let served: [(name: String, body: [UInt8], type: String, ending: String, clause: String?)] = [
        ("page", Array("<!DOCTYPE html><p>gone</p>".utf8), "image/png", "html", "it looks like HTML"),
        ("old", Array("<html></html>".utf8), "image/jpg; charset=utf-8", "html", "it looks like HTML"),
        ("long", Array("<html>".utf8) + [UInt8](repeating: 0x20, count: 200_000), "image/gif", "html", "it looks like HTML"),
        ("json", Array("{\"error\":\"gone\"}".utf8), "image/webp", "body.json", "it looks like JSON"),
        ("text", Array("gone".utf8), "image/avif", "body.txt", "it looks like plain text"),
        ("latin", Array("gone: ".utf8) + [0xe9], "image/png", "bin", "it looks like plain text"),
        ("many", [UInt8](repeating: 0x61, count: 100_000), "image/png", "bin", "it looks like plain text"),
        ("none", [], "image/jpeg", "bin", "it is empty"),
        ("feed", Array("<rss version='2.0'/>".utf8), "image/svg+xml", "xml", "it looks like XML"),
        ("jpeg", [0xff, 0xd8, 0xff, 0xe0, 0, 16], "image/png", "jpg", nil),
        ("cut", Array(MadePicture.png(40, 30).prefix(90)), "image/png", "png", nil),
        ("heic", Array("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8), "image/jpeg", "bin", nil),
        ("plain", MadePicture.png(4, 3), "text/html", "png", nil),
        ("octets", MadePicture.gif(4, 3), "application/octet-stream", "gif", nil),
        ("svg", Array("<?xml version='1.0'?><!-- \(String(repeating: "x", count: 60_000)) --><svg/>".utf8), "image/svg+xml", "svg", nil),
        ("html", Array("<html></html>".utf8), "text/html", "html", nil),
        ("other", Array("AT&TFORM\0\0\0\u{1}DJVU".utf8), "image/vnd.djvu", "bin", nil),
    ]

    private static func startServing() async throws -> Fleet {
        let folder = try TemporaryFolder()
        for file in served { try folder.write(file.body, to: file.name) }
        let fleet = try await Fleet.start {
            $0.fileCount = 1
            $0.directives = served.map { "location = /\($0.name) { root \(folder.path); default_type '\($0.type)'; }" }.joined(
                separator: "\n")
        }
        try fleet.folder.write(Array(served.map { fleet.origin.url("/\($0.name)") }.joined(separator: "\n").utf8), to: "urls.txt")
        kept.withLock { $0.append(folder) }
        return fleet
    }

    /// The origin reads its files until it stops.
    private static let kept = Mutex<[TemporaryFolder]>([])

    @Test func `a body that was served as a picture and is none fails, and is kept under its true ending where that is asked for`()
        async throws
    {
        let fleet = try await Self.startServing()
        let outcome = try await fleet.outcome(fleet.run + Self.shards + ["--retries", "3"])
        let rows: [Row] = try fleet.manifest()
        try #require(rows.count == Self.served.count, "\(outcome.errors)")
        for (row, file) in zip(rows, Self.served) {
            let message = file.clause.map { "It was served as \(file.type.prefix { $0 != ";" }), and \($0)." }
            #expect(row.error?.message == message && row.error?.class == message.map { _ in "not-a-picture" }, "\(row)")
            #expect(row.ending.map(String.init) == (message == nil ? file.ending : nil), "\(row)")
        }
        #expect(outcome.status == 1 && outcome.output.hasPrefix("8 URLs fetched, 9 failed (not-a-picture 9); "), "\(outcome.output)")
        let requests = try await fleet.requests()
        #expect(Self.served.allSatisfy { requests["/\($0.name)"] == 1 }, "\(requests)")

        let kept = try await fleet.outcome(fleet.run + Self.shards + ["--keep-false-pictures"])
        #expect(kept.status == 0 && kept.output.hasPrefix("9 URLs fetched, 8 there already, 0 failed; "), "\(kept.output)")
        let all: [Row] = try fleet.manifest()
        #expect(all.map { $0.ending.map(String.init) } == Self.served.map(\.ending))
        try await fleet.stop()
    }

    @Test(arguments: ["files", "warc"])
    func `a folder and an archive keep what came, whatever it was served as`(format: String) async throws {
        let fleet = try await Self.startServing()
        let outcome = try await fleet.outcome(fleet.run + ["--output-format", format])
        #expect(outcome.status == 0 && outcome.output.hasPrefix("\(Self.served.count) URLs fetched, 0 failed; "), "\(outcome.errors)")
        try await fleet.stop()
    }

    @Test func `false pictures are kept in shards of bodies only`() async throws {
        let program = Program(home: "/dev/null/none")
        for (words, part) in [
            ([], "'--keep-false-pictures' is for '--output-format shards'"),
            (["--output-format", "warc"], "is for '--output-format shards'"),
            (Self.shards + ["--resize", "64"], "of which no picture can be made"),
        ] {
            let outcome = try await program.run(["run", "-d", "/nowhere", "http://127.0.0.1/", "--keep-false-pictures"] + words)
            #expect(outcome.status == 64 && outcome.errors.contains(part), "\(words): \(outcome.errors)")
        }
    }

    @Test(arguments: [SIGKILL, SIGINT])
    func `shards close while a row of the list waits, and whatever ends the run loses and repeats nothing`(signal: Int32) async throws {
        let fleet = try await Self.start(files: 38)
        let gate = try fleet.gateList(after: 1)
        let urls = try String(contentsOfFile: fleet.list, encoding: .utf8).split(separator: "\n")
        try fleet.folder.write(
            Array((["url,TEXT"] + urls.map { "\($0),caption \($0.utf8.count)" }).joined(separator: "\n").utf8), to: "urls.txt")
        let run = fleet.run + Self.shards + ["--samples-per-shard", "10", "--carry", "TEXT"]
        let first = try await fleet.start(run, untilFetched: 38)
        try await gate.accepted(2)
        try await eventually("three shards are complete, and their files are gone") {
            try ShardWriter.shards(in: fleet.out) == [0, 1, 2] && fleet.bodies().count { !$0.hasSuffix(".tar") } == 9
        }
        let keys = try Self.shards(fleet).keys
        #expect(keys.map(\.count) == [10, 10, 10] && first.isRunning)
        let complete = try (0..<3).map { try contents(ofFile: "\(fleet.out)/0000\($0).tar") }
        first.signal(signal)
        if signal == SIGINT {
            _ = try await first.errors.line { $0.hasPrefix("gannet: stopping") }
            first.signal(SIGINT)
        }
        _ = try await first.exitStatus
        if signal == SIGINT {
            #expect(try Self.shards(fleet).keys.map(\.count) == [10, 10, 10, 8])
            let rows: [Row] = try fleet.manifest()
            #expect(rows.map(\.outcome) == ["fetched", "pending", "pending"] + Array(repeating: "fetched", count: 37))
        }
        let second = try await fleet.outcome(run)
        #expect(second.status == 0, "\(second.errors)")
        let after = try Self.shards(fleet)
        #expect(after.keys.map(\.count) == (signal == SIGINT ? [10, 10, 10, 8, 2] : [10, 10, 10, 10]))
        #expect(Set(after.keys.joined()).count == 40 && after.files.allSatisfy { $0.hasSuffix(".tar") })
        #expect(try (0..<3).map { try contents(ofFile: "\(fleet.out)/0000\($0).tar") } == complete)
        #expect(try await fleet.requests().values.allSatisfy { $0 == 1 })
        for (row, url) in zip(try fleet.manifest() as [Row], urls) {
            let place = try #require(row.file).split(separator: "/")
            let key = try #require(place.last?.prefix { $0 != "." })
            let number = try #require(Int(place[0].prefix { $0 != "." }))
            let sample = try #require(try ShardWriter.samples(inShard: number, of: fleet.out).first { $0.key == key })
            #expect(sample.names == [String(place[1]), "\(key).txt", "\(key).json"], "\(url)")
            #expect(row.carried?["TEXT"] == "caption \(url.utf8.count)")
        }
        try await fleet.stop()
        withExtendedLifetime(gate) {}
    }

    @Test func `a shard that is cut off is set aside, and its rows are samples once`() async throws {
        let fleet = try await Self.start(files: 12)
        let run = fleet.run + Self.shards + ["--samples-per-shard", "4", "--robots", "ignore"]
        #expect(try await fleet.outcome(run).status == 0)
        let whole = try contents(ofFile: fleet.out + "/00000.tar")
        try fleet.folder.write(Array(whole.prefix(whole.count - 1024)), to: "out/00000.tar")
        let second = try await fleet.outcome(run)
        #expect(second.status == 0 && second.output.hasPrefix("4 URLs fetched, 8 there already, 0 failed; "), "\(second.output)")
        #expect(
            second.errors.contains("is cut off. It is called 00000.tar.damaged now, and its rows are fetched again.\n"), "\(second.errors)")
        let (keys, files) = try Self.shards(fleet)
        #expect(
            files == ["00000.tar.damaged", "00001.tar", "00002.tar", "00003.tar"] && keys.joined().count == 12
                && Set(keys.joined()).count == 12)
        try await fleet.stop()
    }

    @Test func `a run is refused that would change a complete shard`() async throws {
        let fleet = try await Self.start(files: 2)
        for words in [["--refresh"], ["--max-age", "1h"]] {
            let wrong = try await fleet.outcome(fleet.run + Self.shards + words)
            #expect(wrong.status == 64 && wrong.errors.contains("a complete shard is never changed"), "\(wrong.errors)")
        }
        for words in [["--serve"], ["--name", "host"]] {
            let wrong = try await fleet.outcome(fleet.run + Self.shards + words)
            #expect(wrong.status == 64 && wrong.errors.contains("which '--output-format shards' does not write"), "\(wrong.errors)")
        }
        #expect(try await fleet.outcome(fleet.run + Self.shards).status == 0)
        let other = try await fleet.outcome(fleet.run)
        #expect(other.status == 64 && other.errors.contains("was begun with '--output-format shards'"), "\(other.errors)")
        try await fleet.stop()
    }
}
