import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP
@testable import GannetQueue
@testable import Results

/// Packing bodies into shards, without a fetch.
@Suite(.timeLimit(.minutes(3))) struct ShardPackingTests {
    @Test func `bodies become samples in the order of the rows, and their files are gone`() async throws {
        let fixture = try ShardFixture()
        let names = ["c", "a", "gone", "b", "a"]
        let folder = try await fixture.open(names)
        for (name, type) in [("a", "text/html; charset=utf-8"), ("b", "application/json"), ("c", "")] {
            try await fixture.bring(name, "body \(name)", type: type, to: folder)
        }
        let rows = try await fixture.pack(names, in: folder)
        let (a, b, c) = (try fixture.key("a"), try fixture.key("b"), try fixture.key("c"))
        #expect(
            try (0..<2).map { try fixture.samples($0).map(\.names) } == [
                [["\(c).bin", "\(c).json"], ["\(a).html", "\(a).json"]], [["\(b).body.json", "\(b).json"]],
            ])
        #expect(try (0..<2).map { try fixture.samples($0).map(\.key) } == [[c, a], [b]])
        #expect(rows.map(\.file) == ["00000.tar/\(c).bin", "00000.tar/\(a).html", nil, "00001.tar/\(b).body.json", "00000.tar/\(a).html"])
        #expect(rows.map(\.outcome) == ["fetched", "fetched", "failed", "fetched", "cached"])
        #expect(rows.map(\.result) == ["new", "new", "failed", "new", "new"])
        #expect(try fixture.files() == ["00000.tar", "00001.tar", "manifest.jsonl"])
    }

    @Test func `a body that is there has the ending of its bytes if it was served as a picture`() async throws {
        let fixture = try ShardFixture()
        let bodies = [
            ("a", "<html></html>", "Image/PNG ;x=y", "html"), ("b", "%PDF-1.7", "image/gif", "pdf"), ("c", "", "image/png", "bin"),
        ]
        let names = bodies.map(\.0)
        let folder = try await fixture.open(names)
        for (name, body, type, _) in bodies { try await fixture.bring(name, body, type: type, to: folder) }
        let rows = try await fixture.pack(names, in: folder, samples: 9)
        #expect(rows.map(\.file) == (try bodies.map { "00000.tar/\(try fixture.key($0.0)).\($0.3)" }))
    }

    @Test func `the next run packs only what is in no shard, and a row of an open shard has its place too`() async throws {
        let fixture = try ShardFixture()
        let first = try await fixture.open(["a"])
        try await fixture.bring("a", "1", to: first)
        _ = try await fixture.pack(["a"], in: first)
        let second = try await fixture.open(["a", "b"])
        #expect(try await second.check() == .init(sound: 1))
        try await fixture.bring("b", "2", to: second)
        let rows = try await fixture.pack(["b", "a", "b"], in: second)
        let (a, b) = (try fixture.key("a"), try fixture.key("b"))
        #expect(rows.map(\.file) == ["00001.tar/\(b).bin", "00000.tar/\(a).bin", "00001.tar/\(b).bin"])
        #expect(rows.map(\.outcome) == ["fetched", "cached", "cached"])
        #expect(rows.map(\.result) == ["new", "same", "new"])
        try FileManager.default.removeItem(atPath: fixture.path + "/00000.tar")
        #expect(try await fixture.open(["a", "b"]).check() == .init(sound: 1, broken: 1))
    }

    @Test func `a kill behind the end of a shard repeats no sample of it`() async throws {
        let fixture = try ShardFixture()
        let names = ["a", "b", "c"]
        let folder = try await fixture.open(names)
        for name in names { try await fixture.bring(name, name, to: folder) }
        let journal = "\(folder.ownPath)/\(Journal.name)"
        let before = try contents(ofFile: journal)
        _ = try await fixture.pack(names, in: folder, samples: 3)
        // As after a kill before the records were written, and before one of the files was removed.
        try Data(before).write(to: URL(fileURLWithPath: journal))
        let left = try #require(JobRecord.file(of: fixture.id("b"), in: before))
        try FileManager.default.createDirectory(atPath: fixture.path + "/" + left.prefix(3), withIntermediateDirectories: true)
        try Data("b".utf8).write(to: URL(fileURLWithPath: fixture.path + "/" + left))
        let next = try await fixture.open(names)
        let rows = try await fixture.pack(names, in: next, samples: 3)
        #expect(rows.map(\.file) == (try names.map { "00000.tar/\(try fixture.key($0)).bin" }))
        #expect(try fixture.files() == ["00000.tar", "manifest.jsonl"])
    }

    @Test func `files of the user stay beside bodies, whatever their names`() async throws {
        let fixture = try ShardFixture()
        let folder = try await fixture.open(["a"])
        try await fixture.bring("a", "a", to: folder)
        let key = try fixture.key("a")
        let own = ["\(key.prefix(3))/\(key)-a.label", "\(key.prefix(3))/\(key).mask.png", "\(key.prefix(3))/note"]
        for name in own { try Data("mine".utf8).write(to: URL(fileURLWithPath: fixture.path + "/" + name)) }
        _ = try await fixture.pack(["a"], in: folder)
        _ = try await fixture.pack(["a"], in: fixture.open(["a"]))
        #expect(try fixture.files() == (["00000.tar", "manifest.jsonl", String(key.prefix(3))] + own).sorted())
    }

    @Test func `a shard that was cut short is missing, and a folder may be named by a link`() async throws {
        let fixture = try ShardFixture()
        let folder = try await fixture.open(["a"])
        try await fixture.bring("a", "a", to: folder)
        let link = fixture.path + "/.gannet-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.path)
        let place = PackedPlace.sample(file: "00000.tar", name: "x")
        _ = try await fixture.pack(["a"], in: folder)
        #expect(place.isThere(in: fixture.path) && place.isThere(in: link))
        let bytes = try contents(ofFile: fixture.path + "/00000.tar")
        for count in [0, 600, bytes.count - 1024, bytes.count - 512] {
            try Data(bytes.prefix(count)).write(to: URL(fileURLWithPath: fixture.path + "/00000.tar"))
            #expect(!place.isThere(in: fixture.path), "\(count)")
        }
    }

    @Test func `a body that has changed since its fetch ends the packing with a sentence, and complete shards stay`() async throws {
        let fixture = try ShardFixture()
        let names = ["a", "b", "c"]
        let folder = try await fixture.open(names)
        for name in names { try await fixture.bring(name, "body \(name)", to: folder) }
        let file = try #require(JobRecord.file(of: fixture.id("c"), in: contents(ofFile: "\(folder.ownPath)/\(Journal.name)")))
        try Data("x".utf8).write(to: URL(fileURLWithPath: fixture.path + "/" + file))
        let failure = await #expect(throws: StorageFailure.self) { _ = try await fixture.pack(names, in: folder) }
        #expect(failure?.sentence == "A body should have 6 bytes, and 1 could be read.")
        #expect(try fixture.files().filter { $0.hasSuffix(".tar") } == ["00000.tar"])
        #expect(!(try fixture.files().contains("manifest.jsonl")))
        let next = try await fixture.open(names)
        #expect(try await next.check() == .init(sound: 2, broken: 1))
    }
}
