import GannetTestKit
import Testing

@Suite struct LateOriginTests {
    private func curl(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(.init("curl", ["--silent", "--show-error", "--noproxy", "*"] + arguments))
    }

    @Test func `every body has its size and begins with the path of its URL`() async throws {
        let origin = try LateOrigin(latency: .milliseconds(1), bodySize: 10_000)
        let folder = try TemporaryFolder()
        let outcome = try await curl(
            ["--parallel", "--parallel-max", "200", "--output", folder.file("#1"), origin.url("/file-[1-500]?a=b")])
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        let wrong = try (1...500).filter { number in
            let path = "/file-\(number)?a=b"
            let body = path + String(repeating: "x", count: 10_000 - path.utf8.count)
            return try contents(ofFile: folder.file("\(number)")) != Array(body.utf8)
        }
        #expect(wrong.isEmpty)
        #expect(origin.answered == 500)
    }

    @Test func `no answer comes before its time`() async throws {
        let origin = try LateOrigin(latency: .milliseconds(50), bodySize: 10)
        let outcome = try await curl(
            ["--parallel", "--output", "/dev/null", "--write-out", "%{time_starttransfer}\n", origin.url("/[1-20]")])
        let times = outcome.output.split(separator: "\n").compactMap { Double($0) }
        #expect(times.count == 20 && times.allSatisfy { $0 >= 0.05 }, "\(times)")
    }

    @Test func `a connection is kept for the next request`() async throws {
        let origin = try LateOrigin(latency: .milliseconds(1), bodySize: 10)
        #expect(try await curl([origin.url("/[1-10]")]).output.count == 100)
        #expect(origin.connections == 1)
        #expect(origin.answered == 10)
    }

    @Test func `a stopped origin refuses connections`() async throws {
        let origin = try LateOrigin(latency: .seconds(60), bodySize: 10)
        let waiting = try ChildProcess(.init("curl", ["--silent", "--noproxy", "*", origin.url("/")]))
        try await eventually("the request is there") { origin.connections == 1 }
        try await origin.stop()
        #expect(try await waiting.exitStatus != .exited(0))
        #expect(try await curl([origin.url("/")]).status == .exited(7))
    }
}
