import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

struct CancellationTests {
    private static let slow: [HostileServer.Step] = [
        .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"), .silence,
    ]

    @Test func `of a thousand callers all but one may leave, and with the last one the connection goes`() async throws {
        let server = try HostileServer(scripts: [Self.slow])
        let fetcher = try Fetcher(.local)
        let request = FetchRequest("http://127.0.0.1:\(server.port)/")
        let callers = (0..<1000).map { _ in Task { try await fetcher.data(for: request) } }
        try await eventually("a thousand callers wait") { await fetcher.fetch.waiting == 1000 }
        try await server.accepted(1)
        for caller in callers.dropFirst() { caller.cancel() }
        for caller in callers.dropFirst() {
            let error = await #expect(throws: FetchError.self) { try await caller.value }
            #expect(error?.kind == .cancelled)
        }
        #expect(server.connections == 1)
        callers[0].cancel()
        _ = await callers[0].result
        try await server.ended(1)
        #expect(server.connections == 1)
        try await server.stop()
    }

    @Test func `a URL that is cancelled is so for all who wait for it`() async throws {
        let server = try HostileServer(scripts: [Self.slow])
        let fetcher = try Fetcher(.local)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let callers = (0..<3).map { _ in Task { try await fetcher.data(from: url) } }
        try await eventually("three callers wait") { await fetcher.fetch.waiting == 3 }
        try await server.accepted(1)
        await fetcher.cancel(url)
        for caller in callers {
            let error = await #expect(throws: FetchError.self) { try await caller.value }
            #expect(error?.kind == .cancelled)
        }
        try await server.ended(1)
        try await server.stop()
    }

    @Test func `leaving the loop cancels the other fetches`() async throws {
        // The last to come is answered, so all are under way by then.
        let answer: [HostileServer.Step] = [
            .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), .silence,
        ]
        let server = try HostileServer(scripts: [[HostileServer.Step]](repeating: Self.slow, count: 4) + [answer])
        let fetcher = try Fetcher(.local)
        let urls = (0..<5).compactMap { URL(string: "http://127.0.0.1:\(server.port)/\($0)") }
        for await item in fetcher.results(for: urls) {
            #expect((try? item.result.get()) == Data("a".utf8))
            break
        }
        try await server.accepted(5)
        try await server.ended(4)
        try await server.stop()
    }

    @Test func `a consumer that is cancelled cancels all fetches`() async throws {
        let server = try HostileServer(scripts: [Self.slow])
        let fetcher = try Fetcher(.local)
        let urls = (0..<5).compactMap { URL(string: "http://127.0.0.1:\(server.port)/\($0)") }
        let consumer = Task {
            var count = 0
            for await _ in fetcher.results(for: urls) { count += 1 }
            return count
        }
        try await server.accepted(5)
        consumer.cancel()
        #expect(await consumer.value == 0)
        try await server.ended(5)
        try await server.stop()
    }

    @Test func `a closed fetcher answers everybody`() async throws {
        let server = try HostileServer(scripts: [Self.slow])
        let fetcher = try Fetcher(.local)
        let request = FetchRequest("http://127.0.0.1:\(server.port)/")
        let caller = Task { try await fetcher.data(for: request) }
        try await server.accepted(1)
        await fetcher.close()
        for attempt in [await caller.result, await Task { try await fetcher.data(for: request) }.result] {
            let error = #expect(throws: FetchError.self) { try attempt.get() }
            #expect(error?.kind == .cancelled)
        }
        try await server.stop()
    }
}
