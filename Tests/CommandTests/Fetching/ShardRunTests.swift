import Archives
import Foundation
import GannetTestKit
import Testing

/// `run --output-format shards`, by the real binary at a real origin. `Scripts/check shards` has webdataset read them.
@Suite(.timeLimit(.minutes(3))) struct ShardRunTests {
    private struct Row: Decodable {
        let outcome: String
        let file: String?
        let carried: [String: String?]?
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
