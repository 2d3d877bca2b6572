import Foundation
import GannetBase
import GannetTestKit
import Lists
import Testing

@testable import GannetHTTP
@testable import GannetQueue
@testable import Results

/// Bodies that are packed as their jobs end.
@Suite(.timeLimit(.minutes(3))) struct PackedBodiesTests {
    private static func hasShard(_ fixture: ShardFixture, _ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(fixture.path)/\(name)")
    }

    /// URLs with everything that a sample's figures may have of their row.
    private static func everyRow(_ fixture: ShardFixture) -> [Row] {
        let url = { (text: String) in Row.Content.url(Array(text.utf8)[...]) }
        return [
            fixture.row(7, "c", carried: #"{"TEXT":"a \"c\"","n":1}"#),
            Row(.argument(2), url(fixture.url("a%20b")), id: Array("näme".utf8)[...]),
            Row(.line(3), url(fixture.url("%40#part")), id: [0xff], carried: Array("{}".utf8)[...]),
        ]
    }

    private static let names = ["c", "a%20b", "%40#part"]

    @Test func `a sample has the same bytes, whether the end of its job or the manifest packs it`() async throws {
        let (early, late) = (try ShardFixture(), try ShardFixture())
        for fixture in [early, late] {
            let folder = try await fixture.open(Self.names)
            let rows = Self.everyRow(fixture)
            let packing = try await BodyPacking.intoShards(folder, samples: 3)
            let packed = PackedBodies(folder, packing)
            if fixture.path == early.path {
                for (row, name) in zip(rows, Self.names) { packed.rows.keep(row, of: try fixture.id(name)) }
            }
            try await packed.whilePacking {
                for name in Self.names {
                    try await fixture.bring(name, "body \(name)", type: "text/html", optOut: "noai", to: packed)
                }
                if fixture.path == early.path {
                    try await eventually("the files are gone") { try fixture.files().filter { $0.contains("-") } == [] }
                }
            }
            #expect(Self.hasShard(fixture, "00000.tar") == (fixture.path == early.path))
            let told = try await fixture.pack(rows, in: folder, packing)
            #expect(told.map(\.outcome) == ["fetched", "fetched", "fetched"])
            #expect(told.map(\.file) == (try Self.names.map { "00000.tar/\(try fixture.key($0)).html" }))
            #expect(try fixture.files() == ["00000.tar", "manifest.jsonl"])
        }
        #expect(try contents(ofFile: "\(early.path)/00000.tar") == contents(ofFile: "\(late.path)/00000.tar"))
        #expect(try contents(ofFile: "\(early.path)/manifest.jsonl") == contents(ofFile: "\(late.path)/manifest.jsonl"))
    }

    @Test func `samples are in the order of the ends, and the manifest adds the other rows to the open shard`() async throws {
        let fixture = try ShardFixture()
        let names = ["a", "old", "b", "c", "d"]
        let before = try await fixture.open(["old"])
        try await fixture.bring("old", "old", to: before)
        let folder = try await fixture.open(names)
        _ = try await folder.check()
        let packing = try await BodyPacking.intoShards(folder, samples: 2)
        let packed = PackedBodies(folder, packing)
        for (index, name) in names.enumerated() where name != "old" && name != "b" {
            packed.rows.keep(fixture.row(index + 1, name), of: try fixture.id(name))
        }
        try await packed.whilePacking {
            for name in ["d", "b", "c"] { try await fixture.bring(name, name, to: packed) }
            try await eventually("the files of the shard are gone") { try fixture.files().count { $0.contains("-") } == 2 }
            // Redis has not heard of the first end.
            for body in ["d", "other"] { try await fixture.bring("d", body, to: packed) }
            try await packed.note(JobRecord(fixture.id("d"), .failed, OutcomeContent(url: fixture.url("d"))), nil, of: fixture.job("d"))
            try await fixture.bring("a", "a", to: packed)
            try await eventually("the open shard is begun") { Self.hasShard(fixture, "00001.tar.open") }
        }
        let told = try await fixture.pack(names.enumerated().map { fixture.row($0 + 1, $1) }, in: folder, packing)
        let keys = try (0..<3).map { try fixture.samples($0).map(\.key) }
        #expect(keys == (try [["d", "c"], ["a", "old"], ["b"]].map { try $0.map { try fixture.key($0) } }))
        let places = ["00001.tar", "00001.tar", "00002.tar", "00000.tar", "00000.tar"]
        #expect(told.map(\.file) == (try zip(places, names).map { "\($0)/\(try fixture.key($1)).bin" }))
        #expect(told.map(\.outcome) == ["fetched", "cached", "fetched", "fetched", "fetched"])
        #expect(try fixture.files() == ["00000.tar", "00001.tar", "00002.tar", "manifest.jsonl"])
    }

    @Test func `a failed job is no sample, and a body for which the queue has no room waits for the manifest`() async throws {
        let fixture = try ShardFixture()
        let names = ["gone", "a", "b", "c"]
        let rows = names.enumerated().map { fixture.row($0 + 1, $1) }
        let folder = try await fixture.open(names)
        let packing = try await BodyPacking.intoShards(folder, samples: 1)
        // Room for one row.
        let packed = PackedBodies(folder, packing, mostBytes: 330)
        for (row, name) in zip(rows, names) { packed.rows.keep(row, of: try fixture.id(name)) }
        try await packed.note(
            JobRecord(fixture.id("gone"), .failed, OutcomeContent(url: fixture.url("gone"))), nil, of: fixture.job("gone"))
        for name in ["a", "b"] { try await fixture.bring(name, name, to: packed) }
        try await packed.whilePacking {
            try await eventually("the first shard is there") { Self.hasShard(fixture, "00000.tar") }
            try await fixture.bring("c", "c", to: packed)
            try await eventually("the second shard is there") { Self.hasShard(fixture, "00001.tar") }
        }
        let told = try await fixture.pack(rows, in: folder, packing)
        let keys = try ["a", "b", "c"].map { try fixture.key($0) }
        #expect(told.map(\.file) == [nil, "00000.tar/\(keys[0]).bin", "00002.tar/\(keys[1]).bin", "00001.tar/\(keys[2]).bin"])
        #expect(try fixture.files() == ["00000.tar", "00001.tar", "00002.tar", "manifest.jsonl"])
    }

    @Test func `an error of the packing fails the next end, and complete shards and all files stay`() async throws {
        let fixture = try ShardFixture()
        let names = ["a", "b", "c", "d", "e"]
        let folder = try await fixture.open(names)
        let packing = try await BodyPacking.intoShards(folder, samples: 2)
        let packed = PackedBodies(folder, packing)
        for (index, name) in names.enumerated() { packed.rows.keep(fixture.row(index + 1, name), of: try fixture.id(name)) }
        let failure = await #expect(throws: StorageFailure.self) {
            try await packed.whilePacking {
                for name in ["a", "b", "c"] { try await fixture.bring(name, name, to: packed) }
                try await eventually("c is packed") { Self.hasShard(fixture, "00001.tar.open") }
                let end = try await fixture.place("d", "body d", in: packed)
                try Data("x".utf8).write(to: URL(fileURLWithPath: "\(fixture.path)/\(end.file)"))
                try await packed.note(end, nil, of: fixture.job("d"))
                try await eventually("the open shard is gone") { !Self.hasShard(fixture, "00001.tar.open") }
                try await fixture.bring("e", "e", to: packed)
                Issue.record("The job has ended.")
            }
        }
        #expect(failure?.sentence == "A body should have 6 bytes, and 1 could be read.")
        let told = try await fixture.pack(names.enumerated().map { fixture.row($0 + 1, $1) }, in: folder, packing)
        #expect(told.prefix(2).map(\.file) == (try ["a", "b"].map { "00000.tar/\(try fixture.key($0)).bin" }))
        #expect(told.dropFirst(2).allSatisfy { $0.file.map { Self.hasShard(fixture, $0) } == true })
        let next = try await fixture.open(names)
        #expect(try await next.check() == .init(sound: 4, broken: 1))
    }

    @Test func `a row is taken once, with its id and its values, and rows without an end are dropped`() throws {
        let fixture = try ShardFixture()
        // Ten rows of a plain list.
        let rows = WaitingRows(mostBytes: 1000)
        #expect(rows.mostJobs == .max)
        for number in 0..<30 { rows.keep(fixture.row(number, "\(number)"), of: try fixture.id("\(number)")) }
        #expect(rows.mostJobs == 10)
        for number in 0..<30 {
            let row = rows.take(try fixture.job("\(number)"))
            #expect((row != nil) == (number >= 10), "\(number)")
            #expect(row.map { $0.url == fixture.url("\(number)") && $0.id == nil && $0.carried == nil } ?? true)
        }
        let full = Row(.argument(3), .invalid(.empty), id: [1, 2], carried: [3])
        rows.keep(full, of: try fixture.id("x"))
        rows.keep(full, of: try fixture.id("x"))
        let row = try #require(rows.take(fixture.job("x")))
        #expect(row.id == [1, 2] && row.carried == [3])
        #expect(row.place == .argument(3))
        #expect(rows.take(try fixture.job("x")) == nil)
        // A row that was taken leaves its room.
        for number in 0..<30 {
            rows.keep(fixture.row(number, "\(number)"), of: try fixture.id("\(number)"))
            if number > 0 { #expect(rows.take(try fixture.job("\(number)")) != nil) }
        }
        #expect(rows.take(try fixture.job("0")) != nil)
    }
}
