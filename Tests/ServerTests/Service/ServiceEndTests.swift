import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import Server

/// The end of a service, with requests, streams and bodies under way.
@Suite(.timeLimit(.minutes(3))) struct ServiceEndTests: EngineUser {
    @Test func `stopping ends requests that wait, streams that go on, and bodies that come`() async throws {
        let gate = Gate()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { request in
            switch request.path {
            case "/stream": .now(HTTPServiceAnswer(body: .stream(length: nil) { _ in await gate.wait() }))
            case "/body":
                .later {
                    _ = try? await request.body.next()
                    await gate.wait()
                    return HTTPServiceAnswer()
                }
            default:
                .later {
                    await gate.wait()
                    return HTTPServiceAnswer()
                }
            }
        }
        let clients = try (0..<3).map { _ in try RawClient(port: service.port) }
        try await clients[0].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try await clients[1].send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        try await clients[2].send(
            "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + String(repeating: "a", count: 90_000))
        try await eventually("all wait") { gate.waiting == 3 }
        service.stop()
        for client in clients { _ = try? await client.receive() }
        try await eventually("the tasks are cancelled") { gate.cancelled == 3 }
    }

    @Test func `draining answers what is under way, closes what is idle, and takes nothing new`() async throws {
        let gate = Gate()
        var options = HTTPServiceOptions()
        options.fresh = .zero
        let counts = options.counts
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { request in
            guard request.path == "/late" else { return .now(HTTPServiceAnswer("here")) }
            return .later {
                await gate.wait()
                return HTTPServiceAnswer("late")
            }
        }
        let idle = try RawClient(port: service.port)
        try await idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await idle.text(until: "here")
        let silent = try RawClient(port: service.port)
        let late = try RawClient(port: service.port)
        try await late.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the late one waits") { gate.waiting == 1 && counts.values.connections == 3 }

        let isDrained = SharedFlag()
        let draining = Task {
            await service.drain()
            isDrained.set()
        }
        _ = try await idle.receive()
        _ = try await silent.receive()
        let refused = try RawClient(port: service.port)
        #expect(try await refused.receive().isEmpty)
        #expect(counts.values.refused == 1 && service.openRequests == 1 && !isDrained.isSet)
        gate.open()
        let answer = String(decoding: try await late.receive(), as: UTF8.self)
        #expect(answer.contains("\r\nConnection: close\r\n") && answer.hasSuffix("\r\n\r\nlate"))
        await draining.value
        #expect(service.openRequests == 0 && counts.values.connections == 0)
        service.stop()
        await service.drain()
    }

    @Test func `draining ends with its task, and leaves the requests that are under way`() async throws {
        let gate = Gate()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in
            .later {
                await gate.wait()
                return HTTPServiceAnswer()
            }
        }
        let client = try RawClient(port: service.port)
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("it waits") { gate.waiting == 1 }
        let draining = Task { await service.drain() }
        draining.cancel()
        await draining.value
        #expect(service.openRequests == 1)
        service.stop()
        #expect(try await client.receive().isEmpty)
    }

    @Test func `a stalled body does not hold up the end`() async throws {
        var options = HTTPServiceOptions()
        options.withoutTrafficAtEnd = .milliseconds(1)
        options.withoutTraffic = .seconds(3600)
        let service = try HTTPService.reader(options, failed: Count())
        let client = try RawClient(port: service.port)
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this")
        try await eventually("the request is under way") { service.openRequests == 1 }
        try await bounded("the service drains", within: .seconds(30)) { await service.drain() }
        #expect(String(decoding: try await client.receive(), as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
        #expect(service.openRequests == 0)
        service.stop()
    }

    @Test func `an endless answer counts as no open request, and a client that does not take it does not hold up the end`() async throws {
        var options = HTTPServiceOptions()
        options.withoutTrafficAtEnd = .milliseconds(1)
        options.withoutTraffic = .seconds(3600)
        let (counts, gate) = (options.counts, Gate())
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { _ in
            var answer = HTTPServiceAnswer(
                body: .stream(length: nil) { stream in
                    // More than the sockets hold.
                    for _ in 0..<1000 { try await stream.write([UInt8](repeating: 1, count: 100_000)) }
                    await gate.wait()
                })
            answer.isEndless = true
            return .now(answer)
        }
        let client = try RawClient(port: service.port)
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the answer has begun") { counts.values.bodyBytes > 0 }
        #expect(service.openRequests == 0 && counts.values.requests == 1)
        try await bounded("the service drains", within: .seconds(30)) { await service.drain() }
        #expect(counts.values.requests == 0 && counts.values.connections == 0)
        service.stop()
    }
}
