import Foundation
import GannetTestKit
import Testing

/// Bodies on their way through `gannet serve` have a bound. The bodies here are larger than what the system holds for a connection.
@Suite(.timeLimit(.minutes(2))) struct GatewayMemoryTests {
    private static let size = 16_000_000
    private static let bounds = ["--max-body", "20MB", "--memory-under-way", "25MB", "--retries", "0"]

    private static func origin(_ answers: Int) throws -> HostileServer {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\nConnection: close\r\n\r\n" + String(repeating: "a", count: size)
        return try HostileServer(scripts: Array(repeating: [.readUntil("\r\n\r\n"), .send(answer), .close], count: answers))
    }

    private func bytesUnderWay(_ gateway: Gateway) async throws -> Int? {
        let page = try await gateway.ask("/metrics").body
        let line = page.split(separator: "\n").first { $0.hasPrefix("gannet_gateway_bodies_under_way_bytes ") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }

    @Test func `a body for which slow readers leave no room is refused, and comes when they have left`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let origin = try Self.origin(3)
        let gateway = try await fleet.gateway(Self.bounds + ["--memory", "0"])
        let slow = try RawClient(port: gateway.port)
        try await slow.send("GET /v1/fetch?url=http://127.0.0.1:\(origin.port)/slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try await eventually("the gateway has all of the body") { try await bytesUnderWay(gateway) == Self.size }

        // With a condition the body is not sent while it comes, so that its failure can be answered.
        let whole = ["-H", "If-None-Match: \"x\""]
        let refused = try await gateway.fetch("http://127.0.0.1:\(origin.port)/other", whole)
        #expect(refused.status == 503 && refused.headers["retry-after"] != nil, "\(refused.body.prefix(200))")
        #expect(try refused.json()["class"] as? String == "limit")
        #expect(try await bytesUnderWay(gateway) == Self.size)
        #expect(try await gateway.ask("/metrics").body.contains("\ngannet_gateway_bodies_refused_total 1\n"))

        slow.leave()
        try await eventually("the body is gone with its reader") { try await bytesUnderWay(gateway) == 0 }
        let answer = try await gateway.fetch("http://127.0.0.1:\(origin.port)/other", whole)
        #expect(answer.status == 200 && answer.body.utf8.count == Self.size)
        try await eventually("an answer that was sent holds nothing") { try await bytesUnderWay(gateway) == 0 }
        try await origin.stop()
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `slow readers of one kept body count once`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let origin = try Self.origin(1)
        let gateway = try await fleet.gateway(Self.bounds + ["--memory", "200MB"])
        let url = "http://127.0.0.1:\(origin.port)/"
        #expect(try await gateway.fetch(url).status == 200)
        let readers = try (0..<5).map { _ in try RawClient(port: gateway.port) }
        for reader in readers {
            try await reader.send("GET /v1/fetch?url=\(url) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            _ = try await reader.receive { $0.count > 1000 }
        }
        try await eventually("one body is under way") { try await bytesUnderWay(gateway) == Self.size }
        for reader in readers { reader.leave() }
        try await eventually("the bodies are gone with their readers") { try await bytesUnderWay(gateway) == 0 }
        try await origin.stop()
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a body that could never come is a mistake in the options`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let outcome = try await fleet.outcome(["serve", "--bind", "127.0.0.1:0", "--memory-under-way", "10MB"] + fleet.connection)
        #expect(outcome.status == 64 && outcome.errors.contains("'--memory-under-way' is less than '--max-body'"), "\(outcome.errors)")
        try await fleet.stop()
    }
}
