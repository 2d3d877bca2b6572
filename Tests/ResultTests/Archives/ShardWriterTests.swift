import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP
@testable import Results

@Suite struct ShardWriterTests {
    private static func add(_ number: Int, to writer: ShardWriter) throws -> (shard: Int, isComplete: Bool) {
        try writer.add(
            "k\(number)", [("jpg", .bytes([UInt8](repeating: UInt8(number), count: number * 300))), ("json", .bytes(Array("{}".utf8)))])
    }

    @Test func `a shard is durable with its last sample, and equal samples make equal files`() throws {
        var files: [[[UInt8]]] = []
        for _ in 0..<2 {
            let folder = try TemporaryFolder()
            let writer = try ShardWriter(folder: folder.path, samples: 3)
            let places = try (0..<7).map { try Self.add($0, to: writer) }
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
        let writer = try ShardWriter(folder: folder.path, samples: 1)
        #expect(try folder.files.sorted() == ["00004.tar", "notes.tar"])
        #expect(try Self.add(1, to: writer) == (shard: 5, isComplete: true))
        #expect(try folder.files.sorted() == ["00004.tar", "00005.tar", "notes.tar"])
        #expect(try contents(ofFile: folder.file("00004.tar")) == [1])
        #expect(try ShardWriter.shards(in: folder.path) == [4, 5])
    }

    @Test func `a second writer of a folder is refused`() throws {
        let folder = try TemporaryFolder()
        let writer = try ShardWriter(folder: folder.path, samples: 100)
        _ = try Self.add(1, to: writer)
        #expect(throws: StorageFailure.self) { try ShardWriter(folder: folder.path, samples: 100) }
        #expect(try folder.files == ["00000.tar.open"])
    }

    @Test func `names that readers would take apart otherwise are refused, and the shard goes on`() throws {
        let folder = try TemporaryFolder()
        let writer = try ShardWriter(folder: folder.path, samples: 100)
        _ = try Self.add(1, to: writer)
        for key in ["", "a.b", "a/b", "../a", "__key__", "a\nb", "é", "-a", String(repeating: "a", count: 100), "k1"] {
            #expect(throws: StorageFailure.self) { try writer.add(key, [("txt", .bytes([]))]) }
        }
        for endings in [[""], ["JPG"], ["a/b"], ["."], ["a."], ["jpg", "jpg"], []] {
            #expect(throws: StorageFailure.self) { try writer.add("a", endings.map { ($0, .bytes([])) }) }
        }
        _ = try writer.add("a", [("seg.png", .bytes([]))])
        _ = try writer.close()
        #expect(try ShardWriter.samples(inShard: 0, of: folder.path).map(\.key) == ["k1", "a"])
    }

    @Test func `a body that ends too early takes its shard, and the number is used again`() throws {
        let folder = try TemporaryFolder()
        let writer = try ShardWriter(folder: folder.path, samples: 2)
        let path = try folder.write([1, 2], to: "body")
        _ = try Self.add(1, to: writer)
        #expect(throws: StorageFailure("A body should have 3 bytes, and 2 could be read.")) {
            try writer.add("a", [("txt", .file(path: path, count: 3))])
        }
        #expect(try folder.files == ["body"])
        _ = try Self.add(1, to: writer)
        #expect(try writer.add("a", [("txt", .file(path: path, count: 2))]).isComplete)
        #expect(try ShardWriter.samples(inShard: 0, of: folder.path).map(\.key) == ["k1", "a"])
    }

    @Test func `a folder may be named by a link, and a pipe in place of a shard is refused`() throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
        defer { unlink(link) }
        let writer = try ShardWriter(folder: link, samples: 100)
        _ = try Self.add(1, to: writer)
        #expect(try writer.close() == 0)
        #expect(mkfifo(folder.path + "/00001.tar", 0o600) == 0)
        #expect(throws: StorageFailure.self) { try ShardWriter.samples(inShard: 1, of: folder.path) }
    }
}
