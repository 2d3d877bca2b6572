import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct UnreachableProxyTests {
    @Test func `a proxy that cannot be reached is reported once, and no URL fails for it`() async throws {
        let fleet = try await Fleet.start(files: 30)
        // Nobody listens on port 1.
        let run = try fleet.start(fleet.run + ["--quiet", "--proxy", "http://127.0.0.1:1"])
        let line = try #require(try await run.errors.line { _ in true })
        #expect(line.hasPrefix("gannet: waiting for the proxy (127.0.0.1 port 1 "), "\(line)")
        #expect(line.hasSuffix("): URLs are put off, which uses up no retry"), "\(line)")
        run.signal(SIGINT)
        #expect(try await run.exitStatus == .exited(130))
        #expect(run.errors.lines == [line])
        #expect(try await fleet.requests().isEmpty)
        try await fleet.stop()
    }
}
