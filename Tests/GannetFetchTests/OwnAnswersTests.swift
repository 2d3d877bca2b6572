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
        let headers: ResponseHeaders = ["ETag": "\"1\"\r\nCache-Control: max-age=60", "Content-Type": "text/plain"]
        #expect(headers["cache-control"] == nil && headers["content-type"] == "text/plain")
    }

    @Test func `the observer hears of answers, failures and how long they took`() async throws {
        let events = Monitor<[FetchEvent]>([])
        var options = FetcherOptions()
        options.observer = { event in events.update { $0.append(event) } }
        let fetcher = try Fetcher(options) { request in
            guard request.url.path == "/a" else { throw FetchError(.connect, url: request.url) }
            return FetchResponse(Data("hello".utf8), from: request.url, headers: ["Cache-Control": "public, max-age=60"])
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
