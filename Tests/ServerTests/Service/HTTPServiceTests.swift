import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import Server

/// Asked by the real engine, and by clients that do other things.
@Suite(.timeLimit(.minutes(3))) struct HTTPServiceTests: EngineUser {
    @Test(arguments: ["127.0.0.1", "::1"]) func `it answers by its function, many at a time`(address: String) async throws {
        let service = try HTTPService(address: address, port: 0) { request in
            request.path == "/none"
                ? .now(HTTPServiceAnswer(status: 404)) : .now(HTTPServiceAnswer("you asked \(request.client) \(request.target)"))
        }
        let host = address.contains(":") ? "[\(address)]" : address
        let engine = try engine()
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<50 {
                group.addTask { try await self.get("http://\(host):\(service.port)/\(number)?a=%20", by: engine) }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(bodies == Set((0..<50).map { "you asked \(address) /\($0)?a=%20" }))
        let missing = await #expect(throws: FetchError.self) { try await get("http://\(host):\(service.port)/none", by: engine) }
        #expect(missing?.kind == .status(404))
        engine.shutdown()
        service.stop()
        service.stop()
    }

    @Test func `requests that wait for tasks hold neither threads nor other requests up`() async throws {
        let gate = Gate()
        let options = HTTPServiceOptions.roomy
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { request in
            if request.path == "/now" { return .now(HTTPServiceAnswer("now")) }
            return .later {
                await gate.wait()
                return HTTPServiceAnswer("late")
            }
        }
        let engine = try engine()
        let url = "http://127.0.0.1:\(service.port)"
        let late = Task {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<250 {
                    group.addTask {
                        do {
                            return try await self.get(url + "/late", by: engine)
                        } catch {
                            // The others are cancelled then, and the test would wait for them in vain.
                            if !Task.isCancelled { Issue.record(error) }
                            throw error
                        }
                    }
                }
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
        }
        try await eventually("all wait, and \(gate.waiting) do: \(options.counts.values)") { gate.waiting == 250 }
        #expect(try await get(url + "/now", by: engine) == "now")
        gate.open()
        #expect(try await late.value == [String](repeating: "late", count: 250))
        engine.shutdown()
        service.stop()
    }

    @Test func `a client that leaves cancels the task that works for it, and nothing of the request is left`() async throws {
        let gate = Gate()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in
            .later {
                await gate.wait()
                return HTTPServiceAnswer("nobody hears this")
            }
        }
        let client = try RawClient(port: service.port)
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the task waits") { gate.waiting == 1 }
        client.leave()
        try await eventually("the task is cancelled") { gate.cancelled == 1 }
        try await eventually("the request is gone") { service.openRequests == 0 }
        service.stop()
    }

    @Test func `a stream reaches its client whole, and a slow client slows its writer down`() async throws {
        let written = Count()
        let piece = [UInt8](repeating: 7, count: 100_000)
        let service = try HTTPService(address: "127.0.0.1", port: 0) { request in
            let length = request.path == "/known" ? 20_000_000 : nil
            return .now(
                HTTPServiceAnswer(
                    body: .stream(length: length) { stream in
                        for _ in 0..<200 {
                            try await stream.write(piece)
                            written.add(1)
                        }
                    }))
        }
        let slow = try RawClient(port: service.port)
        try await slow.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let engine = try engine()
        for path in ["/known", "/unknown"] {
            #expect(try await get("http://127.0.0.1:\(service.port)\(path)", by: engine).utf8.count == 20_000_000)
        }
        // Two whole streams, and as much of the third as the sockets hold.
        #expect(written.value < 600)
        #expect(try await slow.receive().count > 20_000_000)
        // The client may have the last piece before its writer goes on.
        try await eventually("the writers are done") { written.value == 600 }
        engine.shutdown()
        service.stop()
    }

    @Test func `a stream that fails ends its connection, so that a part is not taken for the whole`() async throws {
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in
            .now(
                HTTPServiceAnswer(
                    body: .stream(length: nil) { stream in
                        try await stream.write(Array("a part".utf8))
                        throw KitError("no more")
                    }))
        }
        let client = try RawClient(port: service.port)
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = String(decoding: try await client.receive(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(!answer.hasSuffix("0\r\n\r\n"))
        try await eventually("the request is gone") { service.openRequests == 0 }
        service.stop()
    }

    @Test func `a client that leaves its stream ends the writer`() async throws {
        let ended = Count()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in
            .now(
                HTTPServiceAnswer(
                    body: .stream(length: nil) { stream in
                        defer { ended.add(1) }
                        while true { try await stream.write([UInt8](repeating: 1, count: 10_000)) }
                    }))
        }
        let client = try RawClient(port: service.port)
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await client.receive { $0.count > 100_000 }
        client.leave()
        try await eventually("the writer has ended") { ended.value == 1 }
        try await eventually("the request is gone") { service.openRequests == 0 }
        service.stop()
    }

    @Test func `a body is read piece by piece, and no faster than its reader`() async throws {
        let gate = Gate()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { request in
            .later {
                var count = 0
                do {
                    guard let first = try await request.body.next() else { return HTTPServiceAnswer(status: 400) }
                    count += first.count
                    await gate.wait()
                    while let piece = try await request.body.next() { count += piece.count }
                    return HTTPServiceAnswer("\(count)")
                } catch {
                    return HTTPServiceAnswer(status: 500)
                }
            }
        }
        let client = try RawClient(port: service.port)
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\nConnection: close\r\n\r\n")
        let sent = SharedFlag()
        let sending = Task {
            try await client.send([UInt8](repeating: 65, count: 50_000_000))
            sent.set()
        }
        try await eventually("the first piece is read") { gate.waiting == 1 }
        // The reader waits, so most of the body is still with the client.
        #expect(!sent.isSet)
        gate.open()
        try await sending.value
        #expect(String(decoding: try await client.receive(), as: UTF8.self).hasSuffix("\r\n\r\n50000000"))
        service.stop()
    }

    @Test func `a client that leaves in the middle of its body fails the reader`() async throws {
        let failed = Count()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { request in
            .later {
                do {
                    while try await request.body.next() != nil {}
                } catch {
                    failed.add(1)
                }
                return HTTPServiceAnswer()
            }
        }
        let client = try RawClient(port: service.port)
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this")
        client.leave()
        try await eventually("the reader fails") { failed.value == 1 }
        service.stop()
    }

    @Test(arguments: ["", "a part of the body"])
    func `a client that left before its body was read fails the reader`(sent: String) async throws {
        let isBusy = SharedFlag()
        let isHeld = Condition(true)
        let failed = Count()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { request in
            if request.path == "/busy" {
                // The service's own thread waits, so nothing of the other client is read meanwhile.
                isBusy.set()
                isHeld.wait { $0 ? nil : () }
                return .now(HTTPServiceAnswer())
            }
            return .later {
                do {
                    while try await request.body.next() != nil {}
                } catch {
                    failed.add(1)
                }
                return HTTPServiceAnswer()
            }
        }
        let busy = try RawClient(port: service.port)
        try await busy.send("GET /busy HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("the service is busy") { isBusy.isSet }
        let client = try RawClient(port: service.port)
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n" + sent)
        client.leave()
        isHeld.withLock { $0 = false }
        isHeld.wake()
        try await eventually("the reader fails") { failed.value == 1 }
        service.stop()
    }

    @Test func `an answer at once does not wait for the body, nor does one that leaves a part of it unread`() async throws {
        let service = try HTTPService(address: "127.0.0.1", port: 0) { request in
            request.path == "/now"
                ? .now(HTTPServiceAnswer(status: 401)) : .later { HTTPServiceAnswer(status: 413) }
        }
        let client = try RawClient(port: service.port)
        try await client.send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n")
        #expect(try await client.text(until: "\r\n\r\n").hasPrefix("HTTP/1.1 401"))
        let other = try RawClient(port: service.port)
        try await other.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n")
        try await other.send([UInt8](repeating: 65, count: 1_000_000))
        #expect(String(decoding: try await other.receive(), as: UTF8.self).hasPrefix("HTTP/1.1 413"))
        service.stop()
    }

    @Test func `a task that does not answer in its time is answered for`() async throws {
        let gate = Gate()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in
            .later(within: .milliseconds(1), otherwise: HTTPServiceAnswer(status: 503, "late")) {
                await gate.wait()
                return HTTPServiceAnswer("in time")
            }
        }
        let client = try RawClient(port: service.port)
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(String(decoding: try await client.receive(), as: UTF8.self).hasPrefix("HTTP/1.1 503"))
        #expect(gate.cancelled == 1)
        service.stop()
    }

    @Test func `HEAD has the length of the body and no body`() async throws {
        let written = Count()
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in
            .now(HTTPServiceAnswer(body: .stream(length: 77) { _ in written.add(1) }))
        }
        let client = try RawClient(port: service.port)
        try await client.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answer = String(decoding: try await client.receive(), as: UTF8.self)
        #expect(answer.contains("\r\nContent-Length: 77\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
        #expect(written.value == 0)
        service.stop()
    }

    @Test func `it counts connections, requests, bytes, and clients that leave before their answer`() async throws {
        let gate = Gate()
        var options = HTTPServiceOptions()
        options.each = 2
        let counts = options.counts
        let service = try HTTPService(address: "127.0.0.1", port: 0, options) { request in
            switch request.path {
            case "/large": .now(HTTPServiceAnswer(body: .bytes([UInt8](repeating: 65, count: 100_000))))
            case "/wait":
                .later {
                    await gate.wait()
                    return HTTPServiceAnswer()
                }
            default: .now(HTTPServiceAnswer("small"))
            }
        }
        let first = try RawClient(port: service.port)
        try await first.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await first.receive { $0.count > 100_000 }
        for method in ["HEAD", "GET"] {
            try await first.send("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await first.text(until: method == "GET" ? "small" : "\r\n\r\n")
        }
        let second = try RawClient(port: service.port)
        try await second.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        // An idle connection of the address would make room.
        try await first.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        try await eventually("two requests wait") { gate.waiting == 2 }
        let third = try RawClient(port: service.port)
        #expect(try await third.receive().isEmpty)
        let before = counts.values
        #expect(before.requests == 2)
        #expect(before.connections == 2 && before.accepted == 2 && before.refused == 1 && before.departed == 0)
        #expect(before.bodyBytes == 100_005)
        second.leave()
        try await eventually("the second connection is gone") { counts.values.connections == 1 }
        #expect(counts.values.departed == 1 && counts.values.requests == 1)
        service.stop()
        #expect(counts.values.connections == 0)
    }

    @Test func `an answer says when it begins to be sent, and another one in its place says so instead`() async throws {
        let gate = Gate()
        let begun = Mutex<[String]>([])
        let service = try HTTPService(address: "127.0.0.1", port: 0) { _ in
            var (late, right) = (HTTPServiceAnswer(status: 503), HTTPServiceAnswer())
            late.begun = { begun.withLock { $0.append("late") } }
            right.begun = { begun.withLock { $0.append("right") } }
            return .later(within: .milliseconds(1), otherwise: late) { [right] in
                await gate.wait()
                return right
            }
        }
        let client = try RawClient(port: service.port)
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(String(decoding: try await client.receive(), as: UTF8.self).hasPrefix("HTTP/1.1 503"))
        service.stop()
        #expect(begun.withLock { $0 } == ["late"])
    }
}
