import Foundation
import GannetFetch
import GannetTestKit
import Testing

/// Fetchers whose answers come from a function.
struct OwnAnswersTests {
    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test func `a function's answers are kept and shared like an origin's`() async throws {
        let asked = Monitor<[FetchRequest]>([])
        let fetcher = try Fetcher { request in
            asked.update { $0.append(request) }
            return FetchResponse(Data("hello".utf8), from: request.url, headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""])
        }
        let url = try Self.url("https://example.com/")
        let request = FetchRequest(url) { $0.headers = ["Accept": "text/plain"] }
        #expect(try await fetcher.data(for: request) == Data("hello".utf8))
        _ = try await fetcher.data(for: request)
        let questions = asked.update { $0 }
        #expect(questions.map(\.url) == [url, url] && questions[0].headers == ["Accept": "text/plain"])
        #expect(questions[1].headers["If-None-Match"] == "\"1\"")
    }

    @Test func `a status, an error of its own and any other error are the caller's`() async throws {
        struct Broken: Error {}
        let fetcher = try Fetcher { request in
            switch request.url.path {
            case "/404": return FetchResponse(Data(), from: request.url, status: 404)
            case "/304": return FetchResponse(Data(), from: request.url, status: 304)
            case "/tls": throw FetchError(.tls, url: request.url, detail: "as scripted")
            case "/gone": throw CancellationError()
            default: throw Broken()
            }
        }
        let expected: [(String, FetchError.Kind)] = [
            ("/404", .status(404)), ("/304", .status(304)), ("/tls", .tls), ("/gone", .cancelled), ("/else", .engine),
        ]
        for (path, kind) in expected {
            let url = try Self.url("https://example.com\(path)")
            let error = await #expect(throws: FetchError.self) { try await fetcher.data(from: url) }
            #expect(error?.kind == kind)
        }
    }

    @Test func `a closed fetcher asks its function no more, and still gives what it keeps`() async throws {
        let asked = Monitor(0)
        let fetcher = try Fetcher { request in
            asked.update { $0 += 1 }
            return FetchResponse(Data("hello".utf8), from: request.url, headers: ["Cache-Control": "max-age=3600"])
        }
        let (kept, other) = (try Self.url("https://example.com/kept"), try Self.url("https://example.com/other"))
        _ = try await fetcher.data(from: kept)
        await fetcher.close()
        let task = fetcher.task(for: FetchRequest(other))
        for attempt in [Task { try await fetcher.data(from: other) }, Task { try await task.value }] {
            let error = await #expect(throws: FetchError.self) { try await attempt.value }
            #expect(error?.kind == .cancelled && error?.detail == "the fetcher was closed")
        }
        let value = await #expect(throws: FetchError.self) { try await fetcher.value(from: other) { $0.count } }
        #expect(value?.kind == .cancelled)
        #expect(try await fetcher.data(from: kept) == Data("hello".utf8))
        #expect(asked.update { $0 } == 1)
    }

    @Test func `every call for a request has its deadline`() async throws {
        let mayAnswer = Monitor(false)
        let fetcher = try Fetcher { request in
            try await mayAnswer.wait { $0 ? () : nil }
            return FetchResponse(Data("hello".utf8), from: request.url)
        }
        let request = FetchRequest(try Self.url("https://example.com/")) { $0.deadline = .milliseconds(1) }
        #expect("\(request)".contains("deadline"))
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await fetcher.data(for: request) }, { _ = try await fetcher.response(for: request) },
            { _ = try await fetcher.image(for: request) }, { _ = try await fetcher.value(for: request) { $0.count } },
            { _ = try await fetcher.task(for: request).value }, { _ = try await fetcher.imageTask(for: request).value },
            { _ = try await fetcher.task(for: request) { $0.count }.value },
        ]
        // A deadline that does not count would wait for ever.
        let watchdog = Task {
            try await Task.sleep(for: .seconds(20))
            mayAnswer.update { $0 = true }
        }
        for call in calls {
            let error = await #expect(throws: FetchError.self) { try await call() }
            #expect(error?.kind == .timeout(.deadline))
        }
        watchdog.cancel()
        await fetcher.close()
    }

    @Test func `memory can be trimmed, and the disk keeps its answers`() async throws {
        let folder = try TemporaryFolder()
        let fetcher = try Fetcher(FetcherOptions { $0.diskFolder = URL(filePath: folder.file("cache")) }) { request in
            FetchResponse(Data(repeating: 7, count: 1000), from: request.url, headers: ["Cache-Control": "max-age=3600"])
        }
        let urls = try (0..<20).map { try Self.url("https://example.com/\($0)") }
        for url in urls { _ = try await fetcher.value(from: url, cost: { _ in 1000 }, transform: { $0.count }) }
        #expect(fetcher.statistics.memory.entries == 20 && fetcher.statistics.values.entries == 20)
        fetcher.trimMemory(toCost: 10_000)
        let some = fetcher.statistics
        #expect((1..<20).contains(some.memory.entries) && some.memory.cost <= 10_000)
        #expect((1..<20).contains(some.values.entries) && some.values.cost <= 10_000)
        fetcher.trimMemory()
        #expect(fetcher.statistics.memory.entries == 0 && fetcher.statistics.values.entries == 0)
        for url in urls { #expect(try await fetcher.response(for: FetchRequest(url)).source == .disk) }
        await fetcher.close()
    }

    @Test func `a transform can examine images within limits of its own`() async throws {
        let png = Samples.png
        let fetcher = try Fetcher { request in FetchResponse(request.url.path == "/png" ? png : Data("text".utf8), from: request.url) }
        let url = try Self.url("https://example.com/png")
        #expect(try await fetcher.value(from: url) { try FetchedImage(examining: $0) } == fetcher.image(from: url))
        let limits = ImageLimits(pixels: 0)
        let error = await #expect(throws: FetchError.self) {
            try await fetcher.value(from: url, variant: "limited") { try FetchedImage(examining: $0, limits: limits).format }
        }
        #expect(error?.kind == .unexpectedContent && error?.detail.contains("at most 0 are permitted") == true)
        for data in [Data(), Data("text".utf8), png.prefix(20), png.dropFirst(1)] {
            let error = #expect(throws: InvalidImage.self) { try FetchedImage(examining: data) }
            #expect(error?.localizedDescription == error?.description && error?.description.isEmpty == false)
        }
    }

    @Test func `a header that cannot be sent fails its request alone`() async throws {
        let fetcher = try Fetcher { request in FetchResponse(Data(), from: request.url) }
        let url = try Self.url("https://example.com/")
        for headers in [["Host": "a"], ["X-A": "b\r\nX-B: c"], ["": "a"], ["a b": "c"]] {
            let error = await #expect(throws: FetchError.self) { try await fetcher.data(for: FetchRequest(url) { $0.headers = headers }) }
            #expect(error?.kind == .invalidRequest)
        }
        _ = try await fetcher.data(from: url)
    }

    @Test func `an answer's header cannot begin another`() throws {
        let headers: ResponseHeaders = ["ETag": "\"1\"\r\nCache-Control: max-age=3600", "Content-Type": "text/plain"]
        #expect(headers["cache-control"] == nil && headers["content-type"] == "text/plain")
    }

    @Test func `the observer hears of answers, failures and how long they took`() async throws {
        let events = Monitor<[FetchEvent]>([])
        var options = FetcherOptions()
        options.observer = { event in events.update { $0.append(event) } }
        let fetcher = try Fetcher(options) { request in
            guard request.url.path == "/a" else { throw FetchError(.connect, url: request.url) }
            return FetchResponse(Data("hello".utf8), from: request.url, headers: ["Cache-Control": "public, max-age=3600"])
        }
        for path in ["/a", "/a", "/b"] { _ = try? await fetcher.data(from: Self.url("https://user:hunter2@example.com\(path)")) }
        let texts = events.update { $0 }.map { event in
            switch event {
            case .answered(let url, let source, let bytes, _): "\(url) \(source) \(bytes)"
            case .failed(let error, _): "\(error.url) \(error.className)"
            case .retrying: "again"
            }
        }
        #expect(texts == ["https://example.com/a network 5", "https://example.com/a memory 5", "https://example.com/b connect"])
    }
}
