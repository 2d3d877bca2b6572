import Foundation
import GannetFetch
import GannetTestKit
import Testing

/// Values with a password do not show it, however they are printed.
struct PrintingTests {
    /// Every way in which Swift prints a value, alone and within others.
    private func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var dumpedWithin = ""
        dump(["key": Optional(value)], to: &dumpedWithin)
        return [
            "\(value)", String(describing: value), String(reflecting: value), dumped, "\([value])", "\(Optional(value) as Any)",
            dumpedWithin,
            "\(Mirror(reflecting: value).children.map { "\($0.value)" })",
        ]
    }

    private static let url = "https://user:hunter2@example.com/a?token=hunter2&page=7"
    private static let headers = ["Authorization", "Cookie", "X-Api-Key"].compactMap { HeaderField(name: $0, value: "hunter2") }

    private static let values: [any Sendable] =
        headers + [
            FetchRequest(url) { for header in headers { $0.headers[header.name] = header.value } },
            DownloadRequest(url: url, body: .file(in: "/"), headers: headers),
            FetcherOptions { $0.proxy = URL(string: "http://user:hunter2@proxy.example.com:8080") },
            FetcherOptions { $0.fetch.proxy = "http://user:hun#hunter2/@proxy.example.com:8080" },
        ]

    @Test(arguments: values.indices) func `a password is in no text of what holds it`(index: Int) {
        let value = Self.values[index]
        for text in texts(value) { #expect(!text.contains("hun"), "\(type(of: value)): \(text)") }
    }

    @Test func `nor is it in a result`() async throws {
        let fetcher = try Fetcher(downloader: ScriptedDownloader { _ in .body("x") })
        for await item in fetcher.results(for: [try #require(URL(string: Self.url))]) {
            for text in texts(item) { #expect(text.contains("example.com") && !text.contains("hun"), "\(text)") }
        }
        await fetcher.close()
    }

    @Test func `nor is it in a task, and an error says its sentence wherever it is printed`() async throws {
        let fetcher = try Fetcher(downloader: ScriptedDownloader { _ in .failure(.connect) })
        let task = fetcher.task(for: FetchRequest(Self.url))
        for text in texts(task) { #expect(!text.contains("hun"), "\(text)") }
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.localizedDescription == error?.description)
        #expect(InvalidOptions("No.").localizedDescription == "No.")
        await fetcher.close()
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
    }
}
