import Foundation
import GannetTestKit
import Testing

/// A gateway that clients ask with curl.
struct Gateway: Sendable {
    let process: ChildProcess
    let url: String

    struct Answer: Sendable {
        let status: Int
        /// In small letters.
        let headers: [String: String]
        let body: String

        func json() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any], "\(body)")
        }
    }

    var port: UInt16 { url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

    func fetch(_ target: String, _ words: [String] = []) async throws -> Answer {
        try await ask("/v1/fetch?url=\(target.replacing("&", with: "%26"))", words)
    }

    func ask(_ path: String, _ words: [String] = []) async throws -> Answer {
        let all = ["--silent", "--show-error", "--max-time", "60", "--include"] + words + [url + path]
        let outcome = try await ChildProcess.run(.init("curl", all, environment: Program(home: "/").environment))
        guard outcome.status == .exited(0) else { throw KitError(outcome.errors) }
        let parts = outcome.output.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\r\n")
        let headers = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) } }
        return Answer(
            status: try #require(Int(lines[0].split(separator: " ")[1])),
            headers: Dictionary(headers.filter { $0.count == 2 }.map { ($0[0].lowercased(), $0[1]) }) { $0 + ", " + $1 },
            body: String(parts.count > 1 ? parts[1] : ""))
    }

    func stop() async throws {
        process.signal(SIGTERM)
        #expect(try await process.exitStatus == .exited(0))
    }
}

extension Fleet {
    func gateway(_ words: [String] = [], redis: [String]? = nil) async throws -> Gateway {
        let process = try start(["serve", "--bind", "127.0.0.1:0"] + words + local + (redis ?? connection))
        let start = "gannet: serving on "
        let line = try #require(try await process.errors.line { $0.hasPrefix(start) }, "\(process.errors.text)")
        return Gateway(process: process, url: String(try #require(line.dropFirst(start.count).split(separator: " ").first)))
    }
}
