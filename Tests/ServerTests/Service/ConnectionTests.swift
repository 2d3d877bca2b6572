import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import Server

/// Connections that clients hold open, and clients that do not go on.
@Suite(.timeLimit(.minutes(3))) struct ConnectionTests: EngineUser {
    @Test func `an address that holds connections open takes no more than its share from other addresses`() async throws {
        var options = HTTPServiceOptions()
        options.connections = 8
        options.each = 4
        let service = try HTTPService(address: "0.0.0.0", port: 0, options) { _ in .now(HTTPServiceAnswer("here")) }
        // Shorter than the time after which the idle ones are let go.
        let script = """
            for descriptor in {10..17}; do eval "exec $descriptor<>/dev/tcp/127.0.0.1/$0"; done
            curl --silent --max-time 5 --interface 127.0.0.2 "http://127.0.0.1:$0/"
            """
        let outcome = try await ChildProcess.run(
            .init("/usr/bin/env", ["bash", "-c", script, "\(service.port)"], environment: ["PATH": "/usr/bin:/bin"]))
        #expect(outcome.output == "here")
        service.stop()
    }

    @Test func `idle connections of an address that has its share make room for its new ones`() async throws {
        var options = HTTPServiceOptions()
        options.each = 4
        let counts = options.counts
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { _ in .now(HTTPServiceAnswer("here")) }
        var idle: [RawClient] = []
        for _ in 0..<20 {
            let client = try RawClient(port: service.port)
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.text(until: "here").hasPrefix("HTTP/1.1 200"))
            idle.append(client)
        }
        #expect(counts.values.refused == 0 && counts.values.closedIdle == 16)
        service.stop()
    }

    @Test func `a client that stalls in its body hears 408, and its reader fails`() async throws {
        var options = HTTPServiceOptions()
        options.withoutTraffic = .milliseconds(1)
        let failed = Count()
        let service = try HTTPService.reader(options, failed: failed)
        let client = try RawClient(port: service.port)
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this")
        let answer = String(decoding: try await client.receive(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 408 ") && answer.contains("\r\nConnection: close\r\n"), "\(answer)")
        #expect(answer.hasSuffix("\r\n\r\nThe rest of the body did not come in time.\n"), "\(answer)")
        try await eventually("the reader fails") { failed.value == 1 }
        try await eventually("the request is gone") { service.openRequests == 0 }
        service.stop()
    }

    @Test func `idle connections make room for new ones`() async throws {
        var options = HTTPServiceOptions()
        options.connections = 16
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { _ in .now(HTTPServiceAnswer("here")) }
        var idle: [RawClient] = []
        for _ in 0..<100 {
            let client = try RawClient(port: service.port)
            try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.text(until: "here").hasPrefix("HTTP/1.1 200"))
            idle.append(client)
        }
        service.stop()
    }

    @Test(arguments: [1, 2])
    func `no connection with a request makes room, and one too many is refused and counted`(threads: Int) async throws {
        let gate = Gate()
        var options = HTTPServiceOptions()
        options.connections = 8
        options.threads = threads
        let counts = options.counts
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { _ in
            .later {
                await gate.wait()
                return HTTPServiceAnswer("here")
            }
        }
        var clients: [RawClient] = []
        for count in 1...8 {
            clients.append(try RawClient(port: service.port))
            try await clients[count - 1].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try await eventually("request \(count) waits") { gate.waiting == count }
        }
        for count in 1...5 {
            let refused = try RawClient(port: service.port)
            #expect(try await refused.receive().isEmpty)
            #expect(counts.values.refused == count)
        }
        gate.open()
        for client in clients { #expect(try await client.text(until: "here").hasPrefix("HTTP/1.1 200")) }
        // Now they are idle, and one of them makes room.
        let last = try RawClient(port: service.port)
        try await last.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await last.text(until: "here").hasPrefix("HTTP/1.1 200"))
        #expect(counts.values.closedIdle == 1 && counts.values.refused == 5)
        service.stop()
    }

    @Test func `a request without a host, a handshake of TLS and an endless target are refused`() async throws {
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in .now(HTTPServiceAnswer("here")) }
        for request in [
            "GET / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n", "GET /\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\n\r\n",
        ] {
            let client = try RawClient(port: service.port)
            try await client.send(request)
            let answer = String(decoding: try await client.receive(), as: UTF8.self)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
        }
        service.stop()
    }

    @Test func `an address that is none, or not free, is said to be so`() throws {
        #expect(throws: HTTPServiceFailure.self) { try HTTPService(address: "nowhere", port: 0) { _ in .now(HTTPServiceAnswer()) } }
        let first = try HTTPService(address: "127.0.0.1", port: 0) { _ in .now(HTTPServiceAnswer()) }
        let failure = #expect(throws: HTTPServiceFailure.self) {
            try HTTPService(address: "127.0.0.1", port: first.port) { _ in .now(HTTPServiceAnswer()) }
        }
        #expect(failure?.description.hasPrefix("Cannot listen on 127.0.0.1 port \(first.port): ") == true)
        first.stop()
    }
}
