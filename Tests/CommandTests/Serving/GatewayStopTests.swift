import Foundation
import GannetTestKit
import Testing

/// How a gateway ends.
@Suite(.timeLimit(.minutes(2))) struct GatewayStopTests {
    /// A gateway with a client that waits for an origin, which answers when the gate is open.
    private struct Scene {
        let gate = HostileServer.Gate()
        let fleet: Fleet
        let origin: HostileServer
        let gateway: Gateway
        let client: RawClient

        init(_ words: [String] = []) async throws {
            fleet = try await Fleet.start(files: 1)
            origin = try HostileServer(
                .readUntil("\r\n\r\n"), .wait(for: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"), .close)
            gateway = try await fleet.gateway(words)
            client = try RawClient(port: gateway.port)
            try await client.send("GET /v1/fetch?url=http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await origin.received("\r\n\r\n")
        }

        func stop() async throws {
            gate.open()
            try await origin.stop()
            try await fleet.stop()
        }
    }

    @Test func `a client that waits gets its answer after the signal, and then the gateway ends with 0`() async throws {
        let scene = try await Scene()
        let gateway = scene.gateway
        gateway.process.signal(SIGTERM)
        #expect(try await gateway.process.errors.line { $0.hasPrefix("gannet: stopping: 1 request may go on for up to 25.0 s;") } != nil)
        let late = try RawClient(port: gateway.port)
        #expect(try await late.receive().isEmpty)
        scene.gate.open()
        let answer = String(decoding: try await scene.client.receive(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("\r\nConnection: close\r\n") && answer.hasSuffix("late"))
        #expect(try await gateway.process.exitStatus == .exited(0))
        try await scene.stop()
    }

    @Test(arguments: [true, false])
    func `a request that is not answered in time is cut off, said, and told by the exit status`(secondSignal: Bool) async throws {
        let scene = try await Scene(secondSignal ? [] : ["--drain-timeout", "10ms"])
        let gateway = scene.gateway
        gateway.process.signal(SIGTERM)
        if secondSignal {
            _ = try await gateway.process.errors.line { $0.hasPrefix("gannet: stopping") }
            gateway.process.signal(SIGTERM)
        }
        #expect(try await scene.client.receive().isEmpty)
        #expect(try await gateway.process.exitStatus == .exited(143))
        #expect(gateway.process.errors.text.contains("1 request had no answer yet; their connections are closed."))
        try await scene.stop()
    }

    @Test func `events end whole, so that their clients ask another gateway`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let client = try RawClient(port: gateway.port)
        try await client.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await client.text(until: "\n\n\r\n")
        gateway.process.signal(SIGINT)
        #expect(String(decoding: try await client.receive(), as: UTF8.self).hasSuffix("event: ending\ndata: {}\n\n\r\n0\r\n\r\n"))
        #expect(try await gateway.process.exitStatus == .exited(0))
        // Nobody has to wait for a stream without an end.
        #expect(!gateway.process.errors.text.contains("may go on"), "\(gateway.process.errors.text)")
        try await fleet.stop()
    }
}
