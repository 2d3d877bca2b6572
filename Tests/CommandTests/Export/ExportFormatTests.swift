import Foundation
import GannetTestKit
import Results
import Testing

/// `export --output-format`, by the real binary. The tests of runs and of the module `Archives` look at the formats themselves.
@Suite(.timeLimit(.minutes(3))) struct ExportFormatTests {
    private struct Row: Decodable {
        let url: String
        let file: String?
        let sha256: String?
    }

    private static func manifest(_ fleet: Fleet) throws -> [Row] { try fleet.manifest() }

    /// A fleet that has fetched its list.
    private static func fetched() async throws -> Fleet {
        let fleet = try await Fleet.start(files: 12)
        try await fleet.fetchBatch()
        return fleet
    }

    @Test func `an export of archives has a resource for each body, with the time of its fetch, and a second one writes nothing`()
        async throws
    {
        let begun = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let fleet = try await Self.fetched()
        let export = fleet.export + ["--output-format", "warc"]
        let first = try await fleet.outcome(export)
        #expect(first.status == 0, "\(first.errors)")
        let records = try ArchiveRecord.all(in: fleet.out)
        #expect(records.map(\.kind) == ["warcinfo"] + Array(repeating: "resource", count: 12))
        for row in try Self.manifest(fleet) {
            let record = try #require(records.first { $0.place == row.file })
            #expect(record.url == row.url && sha256(of: record.body) == row.sha256)
            let date = try #require(record.fields["warc-date"].flatMap { try? Date($0, strategy: .iso8601) })
            #expect(begun <= date && date <= Date())
        }
        let bodies = try fleet.bodies()
        #expect(bodies.allSatisfy { $0.hasSuffix(".warc.gz") || $0.hasSuffix(".cdxj") }, "\(bodies)")
        let second = try await fleet.outcome(export)
        #expect(second.status == 0 && second.output.contains("12 there already"), "\(second.output)")
        #expect(try fleet.bodies() == bodies)
        try await fleet.stop()
    }

    @Test func `an export of shards has a sample for each body, and a second one writes nothing`() async throws {
        let fleet = try await Self.fetched()
        let export = fleet.export + ["--output-format", "shards", "--samples-per-shard", "5"]
        let first = try await fleet.outcome(export)
        #expect(first.status == 0, "\(first.errors)")
        let names = try ShardWriter.shards(in: fleet.out).map { shard in
            try ShardWriter.samples(inShard: shard, of: fleet.out).map { "0000\(shard).tar/\($0.names[0])" }
        }
        #expect(names.map(\.count) == [5, 5, 2])
        #expect(try Self.manifest(fleet).map(\.file) == Array(names.joined()))
        #expect(try fleet.bodies().sorted() == ["00000.tar", "00001.tar", "00002.tar"])
        let second = try await fleet.outcome(export)
        #expect(second.status == 0 && second.output.contains("12 there already"), "\(second.output)")
        #expect(try fleet.bodies().count == 3)
        try await fleet.stop()
    }

    @Test func `names of files are refused where there are no files`() async throws {
        let fleet = try await Fleet.start(files: 1)
        for format in ["warc", "shards"] {
            let wrong = try await fleet.outcome(fleet.export + ["--output-format", format, "--name", "host"])
            #expect(wrong.status == 64 && wrong.errors.contains("which '--output-format \(format)' does not write"), "\(wrong.errors)")
        }
        try await fleet.stop()
    }
}
