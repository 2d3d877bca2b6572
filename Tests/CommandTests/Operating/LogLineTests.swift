import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetCommand

@Suite struct LogLineTests {
    @Test func `a line of JSON has the time, the level, the message and the facts, and no control characters`() throws {
        let line = LogLine(
            level: .warning, message: "it said \"no\"\n\u{1b}[31m\u{9b}2J", prefix: "gannet: ",
            facts: [(key: "url", value: "http://h/\u{202e}"), (key: "count", value: 3)])
        let text = line.text(in: .json, at: Date(timeIntervalSince1970: 951_782_399.0421))
        #expect(text.hasSuffix("}\n") && text.dropLast().utf8.allSatisfy { $0 >= 32 && $0 < 127 })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["time"] as? String == "2000-02-28T23:59:59.042Z")
        #expect(object["level"] as? String == "warning" && object["count"] as? Int == 3)
        #expect((object["message"] as? String)?.hasPrefix("it said \"no\"\n") == true)
    }

    @Test func `in text, the facts of a job stand behind the message on request`() {
        var line = LogLine(
            level: .debug, message: "fetched http://h/", prefix: "gannet: ",
            facts: [(key: "event", value: "fetched"), (key: "job", value: "ab12"), (key: "batch", value: "night\u{1b}")])
        #expect(line.text(in: .text, at: .now) == "gannet: fetched http://h/\n")
        line.shown = ["job", "batch"]
        #expect(line.text(in: .text, at: .now) == "gannet: fetched http://h/ [job ab12, batch night\\u{1b}]\n")
    }

    @Test func `an error about the command line is in the log format that the command line asks for`() async throws {
        #expect(LogOptions(guessedFrom: ["--log-format", "json"], environment: [:]).format == .json)
        #expect(LogOptions(guessedFrom: ["--log-format"], environment: [:]).format == .text)
        #expect(LogOptions(guessedFrom: ["--log-format=text"], environment: ["GANNET_LOG_FORMAT": "json"]).format == .text)
        #expect(LogOptions(guessedFrom: [], environment: ["GANNET_LOG_FORMAT": "json"]).format == .json)
        let outcome = try await Program(home: "/dev/null/none", ["GANNET_LOG_FORMAT": "json"]).run("work", "--concurrency", "no")
        #expect(outcome.status == 64)
        let object = try JSONSerialization.jsonObject(with: Data(outcome.errors.utf8)) as? [String: String]
        #expect(object?["level"] == "error" && object?["message"]?.contains("'no'") == true, "\(outcome.errors)")
    }

    @Test func `a worker's log is JSON from the first line to the last, with job and batch in each line about a job`() async throws {
        let fleet = try await Fleet.start(files: 5)
        let missing = "http://127.0.0.1:\(fleet.origin.port)/none"
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", "night", missing] + fleet.connection)
        let worked = try await fleet.outcome(
            ["work", "--until-empty", "--log-format", "json", "--verbose"] + fleet.local + fleet.connection)
        #expect(worked.status == 0 && worked.output.isEmpty)
        let lines = try worked.errors.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)")
        }
        #expect(lines.allSatisfy { $0["time"] is String && $0["level"] is String && $0["message"] is String })
        #expect(lines.last?["event"] as? String == "ended" && lines.last?["exitStatus"] as? Int == 0 && lines.last?["fetched"] as? Int == 5)
        let jobs = lines.filter { $0["url"] is String }
        #expect(jobs.count { $0["event"] as? String == "fetched" } == 5)
        #expect(jobs.count { $0["event"] as? String == "failed" && $0["class"] as? String == "http-404" } == 1)
        #expect(jobs.allSatisfy { ($0["job"] as? String)?.count == 32 && $0["batch"] as? String == "night" }, "\(jobs)")
        try await fleet.stop()
    }
}
