import Foundation
import GannetTestKit
import Testing

/// A line of a manifest that was exported.
struct ExportedLine: Decodable {
    struct Failure: Decodable {
        let `class`: String
        let message: String
    }

    let line: Int?
    let finished: Int
    let url: String?
    let outcome: String
    let httpStatus: Int?
    let bytes: Int?
    let sha256: String?
    let file: String?
    let error: Failure?
}

extension Fleet {
    var export: [String] { ["export", "--batch", "b", "-d", out] + connection }

    /// Has the list fetched by a worker that keeps bodies in Redis, as the batch `b`.
    func fetchBatch(more urls: [String] = [], work: [String] = []) async throws {
        let enqueued = try await outcome(["enqueue", "-i", list, "--batch", "b"] + urls + connection)
        #expect(enqueued.status == 0, "\(enqueued.errors)")
        let worked = try await outcome(["work", "--until-empty"] + work + local + connection)
        #expect(worked.status == 0, "\(worked.errors)")
    }

    /// Removes from Redis what begins like this.
    /// - Parameter size: Removes only texts of this size.
    func forget(_ prefix: String, size: Int? = nil, most: Int = .max) async throws -> Int {
        let script = """
            local n = 0
            for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
                local isMeant = ARGV[3] == '' or redis.call('STRLEN', key) == tonumber(ARGV[3])
                if isMeant and n < tonumber(ARGV[2]) then n = n + redis.call('DEL', key) end
            end
            return n
            """
        var count = 0
        for node in store.nodes where count < most {
            let answer = try await node.command("EVAL", script, "0", everywhere(prefix), "\(most - count)", size.map { "\($0)" } ?? "")
            count += try #require(answer.text.flatMap { Int($0) }, "\(answer)")
        }
        return count
    }

    func forgetBodies(size: Int? = nil, most: Int = .max) async throws -> Int {
        try await forget("{gannet:blob}:", size: size, most: most)
    }

    var manifestPath: String { out + "/manifest.jsonl" }

    /// The lines of the manifest.
    func manifest<Line: Decodable>() throws -> [Line] {
        try String(contentsOfFile: manifestPath, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    /// The lines of the manifest, each of which names a file that is what it says.
    func exported(_ location: SourceLocation = #_sourceLocation) throws -> [ExportedLine] {
        let lines: [ExportedLine] = try manifest()
        #expect(lines.allSatisfy { $0.line == nil }, sourceLocation: location)
        #expect(lines.map(\.finished) == lines.map(\.finished).sorted(), sourceLocation: location)
        for line in lines {
            #expect((line.file == nil) == (line.outcome == "failed"), sourceLocation: location)
            #expect((line.error == nil) == (line.outcome != "failed"), sourceLocation: location)
            guard let file = line.file else { continue }
            let bytes = try contents(ofFile: out + "/" + file)
            #expect(line.sha256 == sha256(of: bytes) && line.bytes == bytes.count, "\(file)", sourceLocation: location)
        }
        return lines
    }

    /// Inode numbers, which tell a file from another of the same name.
    func inodes() throws -> [String: Int] {
        try bodies().reduce(into: [:]) {
            $0[$1] = try FileManager.default.attributesOfItem(atPath: out + "/" + $1)[.systemFileNumber] as? Int
        }
    }
}
