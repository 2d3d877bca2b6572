import Foundation
import GannetTestKit
import Testing

/// Gateways treat hosts as workers do: they take places from the same limit, and keep rates, rests and the operator's rules.
@Suite(.timeLimit(.minutes(2))) struct GatewayHostsTests {
    private static func start(_ directives: String = "") async throws -> Fleet {
        try await Fleet.start { options in
            options.fileCount = 3
            options.directives = """
                location = /text { add_header Cache-Control max-age=600; return 200 "0123456789"; }
                location = /long { add_header Retry-After 600 always; return 429; }
                location = /short { add_header Retry-After 1 always; return 503; }
                \(directives)
                """
        }
    }

    private static let answer: [HostileServer.Step] = [
        .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close,
    ]

    private func stop(_ fleet: Fleet, _ gateways: Gateway...) async throws {
        for gateway in gateways { try await gateway.stop() }
        try await fleet.stop()
    }

    @Test func `a host that asked one gateway for a rest gets no request from another`() async throws {
        let fleet = try await Self.start()
        let (one, other) = (try await fleet.gateway(), try await fleet.gateway())
        #expect(try await one.fetch(fleet.origin.url("/long")).status == 503)
        for gateway in [one, other] {
            let answer = try await gateway.fetch(fleet.origin.url("/text"))
            #expect(answer.status == 503 && answer.headers["content-type"] == "application/problem+json")
            #expect(try answer.json()["class"] as? String == "throttled")
            #expect(answer.headers["retry-after"].flatMap { Int($0) }.map { 500...610 ~= $0 } == true)
        }
        #expect(try await fleet.origin.requests().count == 1)
        try await stop(fleet, one, other)
    }

    @Test func `a client waits for the end of a short rest, and no longer than its deadline`() async throws {
        let fleet = try await Self.start("location = /minute { add_header Retry-After 50 always; return 503; }")
        let gateway = try await fleet.gateway()
        #expect(try await gateway.fetch(fleet.origin.url("/short")).status == 503)
        #expect(try await gateway.fetch(fleet.origin.url("/text")).status == 200)
        #expect(try await gateway.fetch(fleet.origin.url("/minute")).status == 503)
        let late = try await gateway.fetch(fleet.origin.urls[0], ["-H", "Gannet-Deadline: 0.2"])
        #expect(try late.status == 504 && late.json()["class"] as? String == "timeout")
        #expect(late.headers["retry-after"].flatMap { Int($0) }.map { 1...50 ~= $0 } == true)
        // A kept answer needs no place.
        #expect(try await gateway.fetch(fleet.origin.url("/text")).status == 200)
        #expect(try await fleet.origin.requests().count == 3)
        try await stop(fleet, gateway)
    }

    @Test func `gateways share the places of a host`() async throws {
        let fleet = try await Self.start()
        let (one, other) = (try await fleet.gateway(["--host-limit", "1"]), try await fleet.gateway(["--host-limit", "1"]))
        let server = try HostileServer(scripts: [[.silence], Self.answer])
        let first = try RawClient(port: one.port)
        try await first.send("GET /v1/fetch?url=http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try await server.received("GET")
        let late = try await other.fetch("http://127.0.0.1:\(server.port)/text", ["-H", "Gannet-Deadline: 0.2"])
        #expect(late.status == 504 && late.headers["retry-after"] != nil)
        #expect(server.connections == 1)
        // Another port is another host.
        #expect(try await other.fetch(fleet.origin.url("/text")).status == 200)
        first.leave()
        #expect(try await other.fetch("http://127.0.0.1:\(server.port)/text").status == 200)
        try await server.stop()
        try await stop(fleet, one, other)
    }

    @Test func `the places of a gateway that was killed are free when its lease has ended`() async throws {
        let fleet = try await Self.start()
        let words = ["--host-limit", "1", "--lease", "1s"]
        let (one, other) = (try await fleet.gateway(words), try await fleet.gateway(words))
        let server = try HostileServer(scripts: [[.silence], Self.answer])
        let first = try RawClient(port: one.port)
        try await first.send("GET /v1/fetch?url=http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try await server.received("GET")
        one.process.signal(SIGKILL)
        #expect(try await other.fetch("http://127.0.0.1:\(server.port)/text").status == 200)
        try await server.stop()
        try await stop(fleet, other)
    }

    @Test func `an operator's pause of a host holds for gateways, until it is cleared`() async throws {
        let fleet = try await Self.start()
        let gateway = try await fleet.gateway()
        #expect(try await fleet.outcome(["hosts", "set", fleet.host, "--pause", "1h"] + fleet.connection).status == 0)
        let answer = try await gateway.fetch(fleet.origin.url("/text"))
        #expect(try answer.status == 503 && answer.json()["class"] as? String == "throttled")
        #expect(answer.headers["retry-after"].flatMap { Int($0) }.map { $0 > 3000 } == true)
        #expect(try await fleet.outcome(["hosts", "clear", fleet.host] + fleet.connection).status == 0)
        #expect(try await gateway.fetch(fleet.origin.url("/text")).status == 200)
        #expect(try await fleet.origin.requests().count == 1)
        try await stop(fleet, gateway)
    }

    @Test func `a host that leaves requests without an answer rests, for gateways too`() async throws {
        let fleet = try await Self.start()
        let gateway = try await fleet.gateway()
        let server = try HostileServer(scripts: [[.close], [.close], [.close], Self.answer])
        for number in 0..<5 { #expect(try await gateway.fetch("http://127.0.0.1:\(server.port)/\(number)").status == 502) }
        #expect(server.connections == 3)
        let hosts = try await fleet.outcome(["explain", "http://127.0.0.1:\(server.port)/text", "--json"] + fleet.connection)
        #expect(hosts.output.contains("\"probing\":true"), "\(hosts.output)")
        // After the rest one request probes the host, and its answer ends the rest for all.
        try await eventually("the host has rested") { try await gateway.fetch("http://127.0.0.1:\(server.port)/text").status == 200 }
        #expect(try await gateway.fetch("http://127.0.0.1:\(server.port)/more").status == 200)
        try await server.stop()
        try await stop(fleet, gateway)
    }

    @Test func `a failure that may pass is tried again where the operator wants that`() async throws {
        let fleet = try await Self.start()
        let answer: (String) -> [HostileServer.Step] = { status in
            [.readUntil("\r\n\r\n"), .send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close]
        }
        let server = try HostileServer(scripts: [answer("500 No"), answer("200 OK")])
        let gateway = try await fleet.gateway(["--retries", "1"])
        #expect(try await gateway.fetch("http://127.0.0.1:\(server.port)/").status == 200)
        #expect(server.connections == 2)
        try await server.stop()
        try await stop(fleet, gateway)
    }
}
