import GannetBasics
import GannetTestKit
import HTTPEngine
import Testing

@testable import HTTPService

/// Asked by the real engine, and by clients that do other things.
@Suite(.timeLimit(.minutes(1))) struct HTTPServiceTests {
    private func engine() throws -> CurlDownloader {
        var options = FetchSettings()
        options.allowedNetworks = ["all"]
        options.maximumInFlight = 300
        return try CurlDownloader(options)
    }

    private func get(_ url: String, by engine: CurlDownloader) async throws -> String {
        let request = DownloadRequest(url: url, body: .memory(upTo: 100_000_000, thenFileIn: "/"))
        guard case .bytes(let bytes) = try await engine.download(request).body else { throw KitError("not in memory") }
        return String(decoding: bytes, as: UTF8.self)
    }

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

    /// A service that reads bodies to their ends.
    private static func reader(_ options: HTTPServiceOptions, failed: Count) throws -> HTTPService {
        try HTTPService(address: "127.0.0.1", port: 0, options) { request in
            .later {
                do {
                    while try await request.body.next() != nil {}
                } catch {
                    failed.add(1)
                }
                return HTTPServiceAnswer("whole")
            }
        }
    }

    @Test func `a client that stalls in its body hears 408, and its reader fails`() async throws {
        var options = HTTPServiceOptions()
        options.withoutTraffic = .milliseconds(1)
        let failed = Count()
        let service = try Self.reader(options, failed: failed)
        let client = try RawClient(port: service.port)
        try await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this")
        let answer = String(decoding: try await client.receive(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 408 ") && answer.contains("\r\nConnection: close\r\n"), "\(answer)")
        #expect(answer.hasSuffix("\r\n\r\nThe rest of the body did not come in time.\n"), "\(answer)")
        try await eventually("the reader fails") { failed.value == 1 }
        try await eventually("the request is gone") { service.openRequests == 0 }
        service.stop()
    }

    @Test func `a stalled body does not hold up the end`() async throws {
        var options = HTTPServiceOptions()
        options.withoutTrafficAtEnd = .milliseconds(1)
        options.withoutTraffic = .seconds(3600)
        let service = try Self.reader(options, failed: Count())
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

extension HTTPServiceOptions {
    fileprivate static var roomy: Self {
        var options = Self()
        options.connections = 400
        return options
    }
}

/// Holds tasks until it is opened, and counts them.
private final class Gate: Sendable {
    private struct State {
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
        var cancelled = 0
        var isOpen = false
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock { $0.waiters.count } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func wait() async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let mayGo = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiters[number] = waiter
                    return false
                }
                if mayGo { waiter.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.cancelled += 1
                return state.waiters.removeValue(forKey: number)
            }
            waiter?.resume()
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.self)
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Counts from any thread.
final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add(_ number: Int) { count.withLock { $0 += number } }
}
