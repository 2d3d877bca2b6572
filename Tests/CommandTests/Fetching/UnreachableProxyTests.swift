import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct UnreachableProxyTests {
    @Test func `a proxy that cannot be reached is reported once, and no URL fails for it`() async throws {
        let fleet = try await Fleet.start(files: 30)
        // Nobody listens on port 1.
        let run = try fleet.start(fleet.run + ["--quiet", "--proxy", "http://127.0.0.1:1"])
        let line = try #require(try await run.errors.line { _ in true })
        #expect(line.hasPrefix("gannet: waiting for the proxy (127.0.0.1 port 1 "), "\(line)")
        #expect(line.hasSuffix("): URLs are put off for 1 h 0 min at most, which uses up no retry"), "\(line)")
        run.signal(SIGINT)
        #expect(try await run.exitStatus == .exited(130))
        #expect(run.errors.lines == [line])
        #expect(try await fleet.requests().isEmpty)
        try await fleet.stop()
    }

    @Test(arguments: [("http", "The server answered 502 ("), ("https", "Could not connect (")])
    func `a proxy that answers 502 to all is named once, after the first few failures`(scheme: String, answer: String) async throws {
        let fleet = try await Fleet.start(files: 1)
        let proxy = try HostileServer(
            .readUntil("\r\n\r\n"), .send("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close)
        let urls = (0..<6).map { "\(scheme)://h\($0).example/" }
        let address = "http://127.0.0.1:\(proxy.port)"
        let outcome = try await fleet.outcome(
            ["run", "-d", fleet.out, "--proxy", address, "--retries", "0"] + urls + fleet.connection)
        #expect(outcome.status == 1)
        let start = "gannet: none of the first 3 requests through the proxy \(address) has succeeded. The last one: \(answer)"
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix(start) && $0.contains("502") } == 1, "\(outcome.errors)")
        try await proxy.stop()
        try await fleet.stop()
    }
}
