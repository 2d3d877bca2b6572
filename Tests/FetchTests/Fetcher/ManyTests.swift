import Foundation
import GannetFetch
import GannetHTTP
import GannetTestKit
import Testing

struct ManyTests {
    @Test func `ten pictures that take their time come in about the time of one`() async throws {
        let png = Samples.png
        let server = try HostileServer(
            .readUntil("\r\n\r\n"), .pause(.milliseconds(200)),
            .send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(png.count)\r\n\r\n".utf8) + png), .close)
        let fetcher = try Fetcher(.local)
        let urls = (0..<10).compactMap { URL(string: "http://127.0.0.1:\(server.port)/\($0)") }
        let images = await fetcher.images(from: urls).collected()
        #expect(images.count == 10)
        #expect(images.values.allSatisfy { (try? $0.get())?.data == png })
        // All ten were on their way before the first could be answered.
        #expect(server.connections == 10)
        try await server.stop()
    }

    @Test func `results come as they are there, and no more are fetched ahead than may be in flight`() async throws {
        let downloader = ScriptedDownloader { $0.hasSuffix("/0") ? .held : .body($0) }
        var options = FetcherOptions.local
        options.maximumInFlight = 3
        let fetcher = try Fetcher(options, downloader: downloader)
        let urls = (0..<20).compactMap { URL(string: "http://a/\($0)") }
        var order: [String] = []
        for await item in fetcher.results(for: urls) {
            order.append(item.url.lastPathComponent)
            if order.count == 19 { downloader.open() }
        }
        #expect(order.count == 20)
        #expect(order.last == "0")
        #expect(downloader.most <= 3)
    }

    @Test func `URLs may be made up as they are needed`() async throws {
        let downloader = ScriptedDownloader { .body($0) }
        var options = FetcherOptions.local
        options.maximumInFlight = 4
        let fetcher = try Fetcher(options, downloader: downloader)
        let endless = (0...).lazy.compactMap { URL(string: "http://a/\($0)") }
        var count = 0
        for await _ in fetcher.results(for: endless) {
            count += 1
            if count == 100 { break }
        }
        #expect(downloader.urls.count <= 104)
    }

    @Test func `a file that is no image does not keep the others from coming`() async throws {
        let downloader = ScriptedDownloader { $0.hasSuffix("bad") ? .body("<html>no</html>") : .failure(.connect) }
        let fetcher = try Fetcher(.local, downloader: downloader)
        let urls = ["bad", "gone"].compactMap { URL(string: "http://a/\($0)") }
        let images = await fetcher.images(from: urls).collected()
        let kinds = urls.map { url -> FetchError.Kind? in
            if case .failure(let error) = images[url] { error.kind } else { nil }
        }
        #expect(kinds == [.unexpectedContent, .connect])
    }

    @Test func `no URLs give no results`() async throws {
        let fetcher = try Fetcher(.local)
        #expect(await fetcher.images(from: []).collected().isEmpty)
        #expect(await fetcher.prefetch([]).fetched == 0)
    }

    @Test func `the progress of a list adds up its fetches, and ends with the last`() async throws {
        let origin = try await Origin.start(
            .init { $0.directives = "location /a { add_header Cache-Control max-age=3600; return 200 body; }" })
        let fetcher = try Fetcher(.local)
        let urls = ["/a/1", "/none", "/a/2"].compactMap { URL(string: origin.url($0)) }
        let results = fetcher.results(for: urls) { $0.count }
        let progress = results.progress
        let listener = Task { await progress.reduce(into: []) { $0.append($1) } }
        for await _ in results {}
        let states = await listener.value
        #expect(states.allSatisfy { $0.urls == 3 } && states.map(\.fetched) == states.map(\.fetched).sorted())
        // A loop that begins after the end hears the last state.
        for last in [states.last, await results.progress.first { _ in true }] {
            #expect(last?.fetched == 2 && last?.failed == 1 && last?.received == 8 && last?.expected == 8)
        }
        try await origin.stop()
    }

    @Test func `a list of unknown length counts the URLs that were taken, and its progress ends with the loop`() async throws {
        let fetcher = try Fetcher(FetcherOptions { $0.maximumInFlight = 4 }, downloader: ScriptedDownloader { .body($0) })
        func progressOfTen() async -> AsyncStream<TotalProgress> {
            let results = fetcher.results(for: (0...).lazy.compactMap { URL(string: "http://a/\($0)") })
            var count = 0
            for await _ in results {
                count += 1
                if count == 10 { break }
            }
            return results.progress
        }
        var last: TotalProgress?
        for await progress in await progressOfTen() { last = progress }
        let total = try #require(last)
        #expect(total.fetched >= 10 && (10...14).contains(total.urls))
    }

    @Test func `a loop that is cancelled ends the progress`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        let fetcher = try Fetcher(downloader: downloader)
        let urls = (0..<3).compactMap { URL(string: "http://a/\($0)") }
        let (streams, stream) = AsyncStream<AsyncStream<TotalProgress>>.makeStream()
        let loop = Task {
            let results = fetcher.images(from: urls)
            stream.yield(results.progress)
            for await _ in results {}
        }
        await downloader.waitForStarts(3)
        loop.cancel()
        var last: TotalProgress?
        for await progress in try #require(await streams.first { _ in true }) { last = progress }
        #expect(last?.urls == 3 && last?.fetched == 0 && last?.failed == 3)
    }

    @Test func `prefetched URLs are kept, and fetched when no other fetch waits`() async throws {
        let downloader = ScriptedDownloader { _ in .held }
        var options = FetcherOptions.local
        options.maximumInFlight = 1
        let fetcher = try Fetcher(options, downloader: downloader)
        let urls = ["a", "b"].compactMap { URL(string: "http://a/\($0)") }
        let prefetch = Task { await fetcher.prefetch(urls) }
        await downloader.waitForStarts(1)
        let wanted = Task { try await fetcher.data(for: FetchRequest("http://a/wanted")) }
        downloader.open()
        _ = try await wanted.value
        #expect(await prefetch.value.fetched == 2)
    }
}
