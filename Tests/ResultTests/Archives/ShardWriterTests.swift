import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import Results

@Suite struct ShardWriterTests {
    private static func sample(_ number: Int) -> ShardSample {
        ShardSample(
            key: "k\(number)",
            parts: [.init("jpg", .bytes([UInt8](repeating: UInt8(number), count: number * 300))), .init("json", .bytes(Array("{}".utf8)))])
    }

    private static func options(_ samples: Int) -> ShardOptions {
        var options = ShardOptions()
        options.samplesPerShard = samples
        return options
    }

    @Test func `a shard is durable with its last sample, and equal samples make equal files`() throws {
        var files: [[[UInt8]]] = []
        for _ in 0..<2 {
            let folder = try TemporaryFolder()
            let writer = try ShardWriter(folder: folder.path, options: Self.options(3))
            let places = try (0..<7).map { try writer.add(Self.sample($0)) }
            #expect(places.map(\.shard) == [0, 0, 0, 1, 1, 1, 2])
            #expect(places.map(\.isComplete) == [false, false, true, false, false, true, false])
            #expect(try folder.files.sorted() == ["00000.tar", "00001.tar", "00002.tar.open"])
            #expect(try writer.close() == 2)
            #expect(try writer.close() == nil)
            #expect(try folder.files.sorted() == ["00000.tar", "00001.tar", "00002.tar"])
            #expect(try ShardWriter.samples(inShard: 1, of: folder.path).map(\.key) == ["k3", "k4", "k5"])
            files.append(try (0..<3).map { try contents(ofFile: folder.file("0000\($0).tar")) })
        }
        #expect(files[0] == files[1])
        // Name, permissions and time of the first header.
        #expect(files[0][0].starts(with: "k0.jpg".utf8))
        #expect(String(decoding: files[0][0][100..<107], as: UTF8.self).hasPrefix("000644"))
        #expect(String(decoding: files[0][0][136..<147], as: UTF8.self) == "00000000000")
    }

    @Test func `the next run removes the open shard, and goes on behind the last number`() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: "00004.tar")
        try folder.write([2], to: "00005.tar.open")
        try folder.write([3], to: "notes.tar")
        let writer = try ShardWriter(folder: folder.path, options: Self.options(1))
        #expect(try folder.files.sorted() == ["00004.tar", "notes.tar"])
        #expect(try writer.add(Self.sample(1)) == ShardPlace(shard: 5, file: "00005.tar", isComplete: true))
        #expect(try contents(ofFile: folder.file("00004.tar")) == [1])
        #expect(try ShardWriter.shards(in: folder.path) == [4, 5])
    }

    @Test func `a second writer of a folder is refused`() throws {
        let folder = try TemporaryFolder()
        let writer = try ShardWriter(folder: folder.path)
        _ = try writer.add(Self.sample(1))
        #expect(throws: ArchiveError.self) { try ShardWriter(folder: folder.path) }
        #expect(try folder.files == ["00000.tar.open"])
    }

    @Test func `names that readers would take apart otherwise are refused, and the shard goes on`() throws {
        let folder = try TemporaryFolder()
        let writer = try ShardWriter(folder: folder.path)
        _ = try writer.add(Self.sample(1))
        for key in ["", "a.b", "a/b", "../a", "__key__", "a\nb", "é", "-a", String(repeating: "a", count: 100), "k1"] {
            #expect(throws: ArchiveError.self) { try writer.add(ShardSample(key: key, parts: [.init("txt", .bytes([]))])) }
        }
        for endings in [[""], ["JPG"], ["a/b"], ["."], ["a."], ["jpg", "jpg"], []] {
            #expect(throws: ArchiveError.self) { try writer.add(ShardSample(key: "a", parts: endings.map { .init($0, .bytes([])) })) }
        }
        _ = try writer.add(ShardSample(key: "a", parts: [.init("seg.png", .bytes([]))]))
        _ = try writer.close()
        #expect(try ShardWriter.samples(inShard: 0, of: folder.path).map(\.key) == ["k1", "a"])
    }

    @Test func `a body that ends too early takes its shard, and the number is used again`() throws {
        let folder = try TemporaryFolder()
        let writer = try ShardWriter(folder: folder.path, options: Self.options(2))
        let path = try folder.write([1, 2], to: "body")
        _ = try writer.add(Self.sample(1))
        #expect(throws: ArchiveError.shortBody(expected: 3, found: 2)) {
            try writer.add(ShardSample(key: "a", parts: [.init("txt", .file(path: path, count: 3))]))
        }
        #expect(try folder.files == ["body"])
        _ = try writer.add(Self.sample(1))
        #expect(try writer.add(ShardSample(key: "a", parts: [.init("txt", .file(path: path, count: 2))])).isComplete)
        #expect(try ShardWriter.samples(inShard: 0, of: folder.path).map(\.key) == ["k1", "a"])
    }

    @Test func `a folder may be named by a link, and a pipe in place of a shard is refused`() throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        defer { unlink(link) }
        let writer = try ShardWriter(folder: link)
        _ = try writer.add(Self.sample(1))
        #expect(try writer.close() == 0)
        #expect(mkfifo(folder.path + "/00001.tar", 0o600) == 0)
        #expect(throws: ArchiveError.self) { try ShardWriter.samples(inShard: 1, of: folder.path) }
    }
}
