import Foundation
import GannetTestKit
import Testing

/// A gateway that is asked with the words of curl.
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
        let answer = try await PlainAnswer.to(path, port: port, words)
        return Answer(status: answer.status, headers: answer.headers, body: String(decoding: answer.body, as: UTF8.self))
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
