import Foundation
import GannetTestKit
import Testing

@testable import GannetCommand

@Suite struct SteeringTests {
    @Test func `a server's words reach standard error without control characters`() async throws {
        let server = try HostileServer(.readUntil("PING"), .send("-ERR \u{1b}[31mred\r\n-ERR \u{1b}[31mred\r\n"), .close)
        let outcome = try await Program(home: "/dev/null/none").run("status", "--redis", "redis://127.0.0.1:\(server.port)")
        #expect(outcome.status == 69)
        #expect(!outcome.errors.contains("\u{1b}"), "\(outcome.errors)")
        #expect(outcome.errors.contains("red"))
        try await server.stop()
    }
}
