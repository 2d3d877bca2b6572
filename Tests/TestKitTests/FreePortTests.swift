import Foundation
import Testing

@testable import GannetTestKit

/// A server that a test stops and starts again has to find its port free.
struct FreePortTests {
    @Test func `a port of the kit is none that the kernel gives to connections, and comes once`() throws {
        let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = try #require(range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
        let ports = try (0..<100).map { _ in Int(try Socket.freePort()) }
        #expect(Set(ports).count == 100)
        #expect(ports.allSatisfy { $0 < first })
    }
}
