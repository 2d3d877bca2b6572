import Foundation
import GannetTestKit
import Testing

/// A worker that can be asked how it is.
struct ListeningWorker: Sendable {
    let process: ChildProcess
    let url: String

    struct Answer: Sendable, Equatable {
        let status: Int
        let body: String
    }

    /// - Throws: When nobody answers.
    func ask(_ path: String) async throws -> Answer {
        let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
        let answer = try await PlainAnswer.to(path, port: port)
        return Answer(status: answer.status, body: String(decoding: answer.body, as: UTF8.self))
    }

    /// Asks until the answer has this status.
    func wait(for path: String, status: Int, file: String = #fileID, line: Int = #line) async throws -> Answer {
        var answer: Answer?
        try await eventually("\(path) is answered with \(status), not \(String(describing: answer))", file: file, line: line) {
            answer = try await ask(path)
            return answer?.status == status
        }
        return try #require(answer)
    }

    /// Asks until the metric has a value that is wanted.
    func wait(for metric: String, file: String = #fileID, line: Int = #line, _ isWanted: (Double) -> Bool) async throws {
        var value: Double?
        try await eventually("\(metric) is as expected, not \(String(describing: value))", file: file, line: line) {
            value = try await self.metric(metric)
            return value.map(isWanted) ?? false
        }
    }

    /// The value of a metric, whose name comes with its labels.
    func metric(_ name: String) async throws -> Double? {
        let page = try await ask("/metrics").body
        return page.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}

extension Fleet {
    func listeningWorker(_ words: [String] = [], redis: String? = nil) async throws -> ListeningWorker {
        let process = try start(["work", "--listen", "127.0.0.1:0", "--redis", redis ?? address] + words + local)
        let start = "gannet: listening on "
        let line = try #require(try await process.errors.line { $0.hasPrefix(start) }, "\(process.errors.text)")
        let url = try #require(line.dropFirst(start.count).split(separator: " ").first)
        return ListeningWorker(process: process, url: String(url))
    }
}
