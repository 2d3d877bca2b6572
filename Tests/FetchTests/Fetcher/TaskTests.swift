import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// Fetches that are watched, made more urgent, and cancelled.
struct TaskTests {
    @Test func `progress comes while the body does, also to a watcher that comes late`() async throws {
        let server = try HostileServer(
            .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nfour"), .silence)
        let fetcher = try Fetcher(.local)
        let task = fetcher.task(for: FetchRequest("http://127.0.0.1:\(server.port)/"))
        var iterator = task.progress.makeAsyncIterator()
        var seen = try #require(await iterator.next())
        while seen.received < 4 { seen = try #require(await iterator.next()) }
        #expect(seen == FetchProgress(received: 4, expected: 8) && seen.fraction == 0.5)
        var late = task.progress.makeAsyncIterator()
        #expect(await late.next() == seen)
        task.cancel()
        #expect(await late.next() == nil)
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        try await server.stop()
    }

    @Test func `progress ends with the fetch, and is complete by then`() async throws {
        let origin = try await Origin.start(.init())
        let file = try #require(origin.files.last)
        let fetcher = try Fetcher(.local)
        let task = fetcher.task(for: FetchRequest(origin.url(file.path)))
        #expect(try await task.value.count == file.size)
        // A loop that begins after the end hears the last state.
        var last: FetchProgress?
        for await progress in task.progress { last = progress }
        #expect(last == FetchProgress(received: Int64(file.size), expected: Int64(file.size)))
        try await origin.stop()
    }

    @Test func `a task goes on when nobody holds its fetcher`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        let task = try Fetcher(FetcherOptions(), downloader: downloader).task(for: FetchRequest("http://a/"))
        await downloader.waitForStarts(1)
        downloader.open()
        _ = try await task.value
    }

    @Test func `a task that becomes more urgent goes first`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        let fetcher = try Fetcher(FetcherOptions { $0.maximumInFlight = 1 }, downloader: downloader)
        let running = fetcher.task(for: FetchRequest("http://a/running"))
        await downloader.waitForStarts(1)
        let first = fetcher.task(for: FetchRequest("http://a/first"))
        let second = fetcher.task(for: FetchRequest("http://a/second") { $0.priority = .low })
        try await eventually("both wait for a place") { fetcher.fetch.gates.all.waiting == 2 }
        second.priority = .high
        #expect(second.priority == .high)
        try await eventually("its fetch has the priority") { await fetcher.fetch.priority(of: AnswerRequest("http://a/second")) == .high }
        downloader.open()
        _ = try await (running.value, first.value, second.value)
        #expect(downloader.urls == ["http://a/running", "http://a/second", "http://a/first"])
    }

    @Test func `a waiter that is cancelled waits no more, and the fetch goes on for the others`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        let fetcher = try Fetcher(downloader: downloader)
        let task = fetcher.task(for: FetchRequest("http://a/"))
        await downloader.waitForStarts(1)
        let others = (0..<2).map { _ in Task { try await task.value } }
        let waiter = Task { try await task.value }
        waiter.cancel()
        let error = await #expect(throws: FetchError.self) { try await waiter.value }
        #expect(error?.kind == .cancelled && error?.url.description == "http://a/")
        downloader.open()
        for other in others { #expect(try await other.value == Data("http://a/".utf8)) }
        // A waiter that comes later gets the outcome too, and a cancelled one does not need to wait for it.
        #expect(try await task.value == Data("http://a/".utf8))
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await task.value
        }
        #expect(try await late.value == Data("http://a/".utf8))
        #expect(downloader.urls.count == 1 && downloader.cancelled == 0)
    }

    @Test func `a fetch whose waiters have all left goes on`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        let fetcher = try Fetcher(downloader: downloader)
        let task = fetcher.task(for: FetchRequest("http://a/"))
        await downloader.waitForStarts(1)
        let waiters = (0..<3).map { _ in Task { try await task.value } }
        for waiter in waiters { waiter.cancel() }
        for waiter in waiters { _ = await waiter.result }
        downloader.open()
        #expect(try await task.value == Data("http://a/".utf8))
        #expect(downloader.cancelled == 0)
    }

    @Test func `a task that is cancelled leaves the transfer to other callers`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        let fetcher = try Fetcher(downloader: downloader)
        let request = FetchRequest("http://a/")
        let task = fetcher.task(for: request)
        let other = Task { try await fetcher.data(for: request) }
        try await eventually("both wait") { await fetcher.fetch.waiting == 2 }
        task.cancel()
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        downloader.open()
        #expect(try await other.value == Data("http://a/".utf8))
        #expect(downloader.urls.count == 1)
    }

    @Test func `images and values have tasks too`() async throws {
        let png = Samples.png
        let fetcher = try Fetcher { request in FetchResponse(png, from: request.url, headers: ["Cache-Control": "max-age=3600"]) }
        #expect(try await fetcher.imageTask(for: FetchRequest("http://a/")).value.format == .png)
        #expect(try await fetcher.task(for: FetchRequest("http://a/")) { $0.count }.value == png.count)
        let bad = try Fetcher { request in FetchResponse(Data("text".utf8), from: request.url) }
        let error = await #expect(throws: FetchError.self) { try await bad.imageTask(for: FetchRequest("http://a/")).value }
        #expect(error?.kind == .unexpectedContent)
    }

    @Test func `a prefetch tells how far it is`() async throws {
        let origin = try await Origin.start(
            .init { $0.directives = "location = /a { add_header Cache-Control max-age=3600; return 200 body; }" })
        let fetcher = try Fetcher(.local)
        let urls = [origin.url("/a"), origin.url("/none")].compactMap { URL(string: $0) }
        var last = TotalProgress()
        for await progress in fetcher.prefetching(urls) { last = progress }
        #expect(last.urls == 2 && last.fetched == 1 && last.failed == 1 && last.received == 4 && last.expected == 4)
        #expect(try await fetcher.response(for: FetchRequest(origin.url("/a"))).source == .memory)
        try await origin.stop()
    }

    @Test func `a loop that ends early ends the prefetch`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        let fetcher = try Fetcher(FetcherOptions { $0.maximumInFlight = 2 }, downloader: downloader)
        let urls = (0..<10).compactMap { URL(string: "http://a/\($0)") }
        for await _ in fetcher.prefetching(urls) {
            await downloader.waitForStarts(2)
            break
        }
        try await eventually("nobody waits") { await fetcher.fetch.waiting == 0 }
        #expect(downloader.urls.count == 2)
    }
}
