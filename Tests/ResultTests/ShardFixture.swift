import Foundation
import GannetBase
import GannetTestKit
import Lists
import Testing

@testable import GannetHTTP
@testable import GannetQueue
@testable import Results

/// A folder whose bodies are packed into shards, without a fetch.
struct ShardFixture {
    let temporary: TemporaryFolder
    var path: String { temporary.path }

    /// Of the manifest.
    struct Line: Decodable {
        let outcome: String
        let file: String?
        let result: String?
    }

    init() throws { temporary = try TemporaryFolder() }

    /// A folder as a run opens it, in which all of these URLs are listed.
    func open(_ names: [String]) async throws -> RecordedFolder {
        let folder = try await RecordedFolder.open(BodyFolder(path))
        for name in names { _ = folder.list(try id(name)) }
        return folder
    }

    func url(_ name: String) -> String { "http://h/\(name)" }
    func id(_ name: String) throws -> URLID { try Self.identify(Array(url(name).utf8)[...]) }

    @Sendable static func identify(_ row: ArraySlice<UInt8>) throws -> URLID { try #require(URLID(try CanonicalURL(bytes: row).id)) }

    func row(_ line: Int, _ name: String, carried: String? = nil) -> Row {
        Row(.line(line), .url(Array(url(name).utf8)[...]), carried: carried.map { Array($0.utf8)[...] })
    }

    func job(_ name: String) throws -> Job {
        Job(
            token: LockToken(counter: 1, incarnation: Incarnation(1)), entry: JobEntry(checked: try id(name), "h", url(name)), queue: "q",
            partition: 0,
            batch: 1, terms: LeasedBatch(name: "b"))
    }

    /// Ends the job of a URL as a worker does that has fetched this body.
    func bring(_ name: String, _ body: String, type: String = "", optOut: String? = nil, to output: some JobOutput) async throws {
        try await output.note(place(name, body, type: type, optOut: optOut, in: output), nil, of: job(name))
    }

    /// Stores a body, and returns the end of its job.
    func place(
        _ name: String, _ body: String, type: String = "", optOut: String? = nil, in output: some JobOutput
    ) async throws -> JobRecord {
        let digest = SHA256Digest(of: body.utf8)
        let download = Download(finalURL: url(name), bytes: Array(body.utf8))
        guard case .held(let held) = try await output.place(download, digest: digest, of: job(name)) else { throw KitError("not stored") }
        var content = OutcomeContent(url: url(name))
        (content.status, content.size, content.digest) = (200, body.utf8.count, digest.bytes)
        content.fields[.contentType] = type
        content.fields[.optOut] = optOut
        content.fields[.file] = held.file
        return JobRecord(try id(name), .fetched, content, duration: .milliseconds(7))
    }

    func pack(_ names: [String], in folder: RecordedFolder, samples: Int = 2) async throws -> [Line] {
        try await pack(names.enumerated().map { row($0 + 1, $1) }, in: folder, .intoShards(folder, samples: samples))
    }

    /// Writes the manifest.
    func pack(_ rows: [Row], in folder: RecordedFolder, _ packing: BodyPacking) async throws -> [Line] {
        let manifest = try Manifest(in: folder, packing: packing, identify: Self.identify)
        try await manifest.add(rows)
        _ = try await manifest.finish()
        return try String(contentsOfFile: folder.manifestPath, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    func key(_ name: String) throws -> String { try id(name).bytes.hexadecimal }

    func samples(_ shard: Int) throws -> [(key: String, names: [String])] { try ShardWriter.samples(inShard: shard, of: path) }

    /// All files but those of the record.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { !$0.hasPrefix(".gannet") }.sorted()
    }
}

extension JobRecord {
    /// The file of a URL's last record in the bytes of a journal.
    static func file(of id: URLID, in journal: [UInt8]) -> String? {
        journal.split(separator: UInt8(ascii: "\n")).compactMap { line in line.withUnsafeBytes { JobRecord(line: $0) } }.last {
            $0.id == id
        }?.file
    }
}
