import Foundation
import GannetTestKit
import Testing

/// `--traceparent` and `--send-traceparent`, by the real binary at a real origin.
@Suite(.timeLimit(.minutes(2))) struct TraceTests {
    private static let traceID = "0af7651916cd43dd8448eb211c80319c"
    private static let given = "00-\(traceID)-b7ad6b7169203331-01"

    /// An origin whose bodies are the header that came.
    private func start(_ more: String = "") async throws -> Fleet {
        try await Fleet.start {
            $0.fileCount = 1
            $0.directives = """
                location /echo { default_type text/plain; return 200 "$http_traceparent|$http_x_plain"; }
                \(more)
                """
        }
    }

    /// Works on the queue, and tells the body of a URL.
    private func told(_ fleet: Fleet, _ path: String = "/echo", _ words: [String] = ["--send-traceparent"]) async throws -> String {
        let worked = try await fleet.outcome(["work", "--until-empty"] + words + fleet.local + fleet.connection)
        #expect(worked.status == 0, "\(worked.errors)")
        return try await fleet.text(["get", fleet.origin.url(path)])
    }

    @Test func `workers with --send-traceparent send a batch's trace to origins`() async throws {
        let fleet = try await start()
        let enqueue = ["enqueue", fleet.origin.url("/echo"), "--refresh", "--traceparent", Self.given]
        _ = try await fleet.text(enqueue)
        #expect(try await told(fleet, "/echo", []) == "|")
        var seen: Set<String> = [Self.given]
        for _ in 0..<2 {
            _ = try await fleet.text(enqueue)
            let body = try await told(fleet)
            #expect(body.wholeMatch(of: /00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01\|/) != nil, "\(body)")
            seen.insert(String(body.dropLast()))
        }
        #expect(seen.count == 3)
        _ = try await fleet.text(["enqueue", fleet.origin.url("/echo"), "--refresh"])
        #expect(try await told(fleet) == "|")
        try await fleet.stop()
    }

    @Test func `a redirect to another origin does not take the trace there`() async throws {
        let other = try await start()
        let fleet = try await start(
            """
            location /away { return 302 \(other.origin.url("/echo")); }
            location /on { return 302 /echo; }
            """)
        _ = try await fleet.text(["enqueue", fleet.origin.url("/away"), fleet.origin.url("/on"), "--traceparent", Self.given])
        #expect(try await told(fleet, "/on").hasPrefix("00-\(Self.traceID)-"))
        #expect(try await fleet.text(["get", fleet.origin.url("/away")]) == "|")
        try await fleet.stop()
        try await other.stop()
    }

    @Test func `a run with --send-traceparent sends its trace, which may come from the environment`() async throws {
        let fleet = try await start()
        let words = ["run", fleet.origin.url("/echo"), "-d", fleet.out, "--refresh"] + fleet.local + fleet.connection
        for (more, wanted) in [([], "|"), (["--send-traceparent"], "00-\(Self.traceID)-")] {
            let outcome = try await fleet.outcome(words + more, with: ["GANNET_TRACEPARENT": Self.given])
            #expect(outcome.status == 0, "\(outcome.errors)")
            let files = try FileManager.default.subpathsOfDirectory(atPath: fleet.out).filter {
                !$0.contains("gannet") && !$0.contains("manifest")
            }
            let body = try #require(files.map { fleet.out + "/" + $0 }.first { (try? contents(ofFile: $0)) != nil })
            #expect(String(decoding: try contents(ofFile: body), as: UTF8.self).hasPrefix(wanted))
        }
        try await fleet.stop()
    }

    @Test func `a batch shows its trace, and keeps it`() async throws {
        let fleet = try await start()
        let other = "cc-ffffffffffffffffffffffffffffffff-b7ad6b7169203331-00-more"
        _ = try await fleet.text(["enqueue", "http://h/a", "--batch", "b", "--traceparent", Self.given])
        let again = try await fleet.outcome(["enqueue", "http://h/a", "--batch", "b", "--traceparent", other] + fleet.connection)
        #expect(again.status == 0, "\(again.errors)")
        _ = try await fleet.text(["enqueue", "http://h/a", "--batch", "c", "--traceparent", other])
        _ = try await fleet.text(["enqueue", "http://h/a", "--batch", "d"])
        #expect(try await fleet.json(["batch", "show", "b"])["traceID"] as? String == Self.traceID)
        #expect(try await fleet.json(["batch", "show", "c"])["traceID"] as? String == String(repeating: "f", count: 32))
        #expect(try await fleet.json(["batch", "show", "d"])["traceID"] is NSNull)
        #expect(try await fleet.text(["batch", "show", "b"]).contains("\ntrace      \(Self.traceID)\n"))
        #expect(try await fleet.text(["batch", "show", "d"]).contains("\ntrace      none\n"))
        try await fleet.stop()
    }

    @Test(
        arguments: [
            ("abc", "use 00-<32 digits>-<16 digits>-<2 digits>"), (given.uppercased(), "hexadecimal ones in small letters."),
            ("ff-\(traceID)-b7ad6b7169203331-01", "there is no version ff."),
            ("00-\(String(repeating: "0", count: 32))-b7ad6b7169203331-01", "its trace id is all zeros"),
        ])
    func `a malformed traceparent is refused`(value: String, sentence: String) async throws {
        let program = Program(home: "/dev/null/none")
        for words in [["enqueue", "u"], ["run", "u", "-d", "out"]] {
            let outcome = try await program.run(words + ["--traceparent", value])
            #expect(outcome.status == 64 && outcome.errors.contains("'--traceparent"), "\(outcome.errors)")
            #expect(outcome.errors.contains(sentence) && outcome.output == "", "\(outcome.errors)")
        }
    }

    @Test func `commands that fetch no jobs of batches do not take --send-traceparent`() async throws {
        let program = Program(home: "/dev/null/none")
        for words in [["get", "u", "--fetch"], ["export", "--batch", "b", "-d", "out"], ["enqueue", "u"]] {
            let outcome = try await program.run(words + ["--send-traceparent"])
            #expect(outcome.status == 64 && outcome.errors.contains("Unknown option '--send-traceparent'"), "\(outcome.errors)")
        }
    }
}
