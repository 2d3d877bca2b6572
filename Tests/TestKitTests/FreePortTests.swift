import Foundation
import Testing

@testable import GannetTestKit

/// A server that a test stops and starts again has to find its port free.
struct FreePortTests {
    @Test func `a port of the kit is none that the kernel gives to connections, and comes once`() throws {
        let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = try #require(range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
        let ports = try (0..<100).map { _ in Int(try Socket.freePort().number) }
        #expect(Set(ports).count == 100)
        #expect(ports.allSatisfy { $0 < first })
    }

    @Test func `a server that is away keeps its port, where nobody answers`() async throws {
        let server = try await RedisServer.start(.init { $0.listensOnTCP = true })
        let address = ServerAddress.loopback(port: try #require(server.port))
        try await server.stop()
        #expect(throws: KitError.self) { try Socket.connect(to: address) }
        #expect(throws: KitError.self) { try Socket.occupy(address) }
        try await server.restart()
        #expect(try RedisCall.make(["PING"], to: address) == .text("PONG"))
    }
}
