import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// Places at each host and in all.
struct HostGatesTests {
    private func fetch(_ downloader: ScriptedDownloader, inFlight: Int, atHost: Int?) -> CachingFetch {
        var parts = CachingFetch.Parts(downloader: downloader, memory: MemoryCache(MemoryCacheOptions(costLimit: 0)))
        parts.maximumInFlight = inFlight
        parts.maximumAtHost = atHost
        return CachingFetch(parts)
    }

    @Test func `a busy host keeps no other waiting`() async throws {
        let downloader = ScriptedDownloader { $0.hasPrefix("http://busy/") ? .held : .body($0) }
        let fetch = fetch(downloader, inFlight: 3, atHost: 2)
        let busy = (0..<20).map { number in Task { await fetch.serve(AnswerRequest("http://busy/\(number)")) } }
        await downloader.waitForStarts(2)
        _ = try await fetch.serve(AnswerRequest("http://free/")).get()
        #expect(downloader.urls.filter { $0.hasPrefix("http://busy/") }.count == 2)
        downloader.open()
        for task in busy { _ = try await task.value.get() }
        #expect(downloader.most <= 3)
    }

    @Test func `a redirect takes a place at its host, and transfers do not wait for each other in a circle`() async throws {
        // Each is led to the host where the other begins. With one place in all and at each host, a place that is held while another is
        // waited for would stop both.
        let downloader = ScriptedDownloader { url in
            .led(to: url.hasPrefix("http://a/") ? "b" : "a", .body("done"))
        }
        let fetch = fetch(downloader, inFlight: 2, atHost: 1)
        let tasks = (0..<50).map { number in Task { await fetch.serve(AnswerRequest("http://\(number % 2 == 0 ? "a" : "b")/\(number)")) } }
        for task in tasks { #expect(try await task.value.get().body == Array("done".utf8)) }
        #expect(downloader.mostArrived <= 2)
    }

    @Test func `a caller that leaves gives its places back`() async throws {
        let downloader = ScriptedDownloader { $0.hasSuffix("held") ? .held : .body($0) }
        let fetch = fetch(downloader, inFlight: 1, atHost: 1)
        let first = Task { await fetch.serve(AnswerRequest("http://a/held")) }
        await downloader.waitForStarts(1)
        let waiting = (0..<3).map { number in Task { await fetch.serve(AnswerRequest("http://a/\(number)")) } }
        try await eventually("they wait") { await fetch.waiting == 4 }
        for task in waiting { task.cancel() }
        first.cancel()
        _ = await first.value
        for task in waiting { _ = await task.value }
        _ = try await fetch.serve(AnswerRequest("http://a/after")).get()
    }
}
