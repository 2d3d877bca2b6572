import Foundation
import GannetFetch
import GannetTestKit
import Testing

/// Values that hold a secret do not show it, however they are printed.
struct PrintingTests {
    private static let secret = "hunter2"
    private static let url = "https://user:hunter2@example.com/a?token=hunter2&page=7"
    private static let headers = ["Authorization", "Cookie", "X-Api-Key"].compactMap { HeaderField(name: $0, value: secret) }
    private static let answered: ResponseHeaders = [
        "Content-Type": "image/png", "Set-Cookie": "a=hunter2", "Authorization": "hunter2", "Location": "/b?code=hunter2",
        "Link": "<https://user:hunter2@example.com/>", "X-Other": "hunter2", "Content-Length": "7",
    ]

    private static func response() throws -> FetchResponse {
        FetchResponse(Data(secret.utf8), from: try #require(URL(string: url)), headers: answered)
    }

    /// One of each public type that holds a URL, headers or a body, and a part of its text.
    private static func values() async throws -> [(value: Any, shown: String)] {
        let url = try #require(URL(string: url))
        let response = try response()
        var error = FetchError(kind: .status(404), url: Self.url)
        error.headers = answered
        let fetcher = try Fetcher(
            downloader: ScriptedDownloader { _ in .answer(secret, [("Cache-Control", "public, max-age=3600"), ("X-Other", secret)]) })
        defer { Task { await fetcher.close() } }
        let results = fetcher.results(for: [url, url])
        let iterator = results.makeAsyncIterator()
        let result = try #require(await iterator.next())
        let task = fetcher.task(for: FetchRequest(url))
        _ = try await task.value
        let cache = MemoryCache<String, Data>()
        cache.insert(response.data, for: Self.url, cost: 1)
        let drawing = Data(#"<svg xmlns="http://www.w3.org/2000/svg" id="hunter2"/>"#.utf8)
        let image = try await Fetcher { _ in FetchResponse(drawing, from: url) }.image(from: url)
        return [
            (
                FetchRequest(url) { for header in headers { $0.headers[header.name] = header.value } },
                "https://example.com/a?token=…&page=7"
            ),
            (FetchRequest(url) { $0.headers["Referer"] = Self.url }, "Referer"),
            (DownloadRequest(url: Self.url, body: .file(in: "/"), headers: headers), "https://example.com/a?token=…&page=7"),
            (FetcherOptions { $0.proxy = URL(string: "http://user:hunter2@proxy.example.com:8080") }, "proxy.example.com:8080"),
            (FetcherOptions { $0.fetch.proxy = "http://user:hun#hunter2/@proxy.example.com:8080" }, "proxy.example.com:8080"),
            (response, "https://example.com/a?token=…&page=7"), (response, "7 bytes"), (response, "image/png"),
            (answered, "Content-Type"), (answered, "image/png"), (answered, "Set-Cookie"),
            (result, "https://example.com/a?token=…&page=7"), (result, "7 bytes"),
            (error, "404"), (FetchEvent.failed(error, after: .zero), "404"),
            (FetchEvent.answered(error.url, from: .disk, bytes: 7, after: .zero), "https://example.com/a?token=…&page=7"),
            (image, "54 bytes"), (image, "svg"), (task, "FetchTask"), (fetcher, "Fetcher"), (results, "FetchResults"),
            (iterator, "AsyncIterator"), (cache, "MemoryCache"),
        ] + headers.map { ($0, $0.name) }
    }

    @Test func `a secret is in no text of what holds it, and the rest is`() async throws {
        for (value, shown) in try await Self.values() {
            let printing = Printing(of: value)
            let showing = printing.text(showing: Self.secret) ?? printing.text(showing: "hun")
            #expect(showing == nil, "\(type(of: value))")
            #expect(printing.shows(shown), "\(type(of: value)) shows no \(shown): \(printing.texts)")
        }
    }

    @Test func `nor is it in a result`() async throws {
        let fetcher = try Fetcher(downloader: ScriptedDownloader { _ in .body(Self.secret) })
        for await item in fetcher.results(for: [try #require(URL(string: Self.url))]) {
            let printing = Printing(of: item)
            #expect(printing.text(showing: "hun") == nil)
            #expect(printing.shows("example.com") && printing.shows("7 bytes"), "\(printing.texts)")
        }
        await fetcher.close()
    }

    @Test func `nor is it in a task, and an error says its sentence wherever it is printed`() async throws {
        let fetcher = try Fetcher(downloader: ScriptedDownloader { _ in .failure(.connect) })
        let task = fetcher.task(for: FetchRequest(Self.url))
        #expect(Printing(of: task).text(showing: "hun") == nil)
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.localizedDescription == error?.description)
        #expect(InvalidOptions("No.").localizedDescription == "No.")
        await fetcher.close()
    }

    @Test func `headers of a stranger print in bounds and steer no terminal`() {
        let many = ResponseHeaders((0..<1000).map { (name: "X-\($0)", value: "\u{1b}[2J") } + [("Content-Type", "\u{1b}[2J")])
        let text = "\(many)"
        #expect(text.utf8.count < 2000 && text.contains("and 961 more") && !text.contains("\u{1b}"), "\(text)")
        #expect("\(ResponseHeaders([("Server", "\u{1b}[2J"), ("\u{1b}[2J", "1")]))".contains("\u{1b}") == false)
    }

    @Test func `all else is there`() throws {
        let header = try #require(HeaderField(name: "Accept", value: "image/png"))
        let request = FetchRequest(Self.url) {
            for header in [header] + Self.headers { $0.headers[header.name] = header.value }
            $0.refresh = true
        }
        for text in ["\(request)", String(reflecting: request)] {
            for part in ["FetchRequest", "https://example.com/a?", "page=7", "Accept", "image/png", "Authorization", "refresh: true"] {
                #expect(text.contains(part), "\(text)")
            }
        }
        #expect("\(header)" == "Accept: image/png" && "\(Self.headers[0])" == "Authorization: •••")
        let options = FetcherOptions { $0.proxy = URL(string: "http://user:hunter2@proxy.example.com:8080") }
        #expect("\(options)".contains("proxy.example.com:8080") && "\(options)".contains("memoryLimit: 67108864"))
        let agent = try #require(HeaderField(name: "User-Agent", value: "Pictures/1.0 (+https://example.com/bot)"))
        #expect("\(agent)" == "User-Agent: Pictures/1.0 (+https://example.com/bot)")
    }
}
