import Foundation
import GannetFetch
import GannetTestKit
import Testing

/// Fetchers over one folder.
struct DiskTests {
    private let folder: TemporaryFolder
    private let origin: Origin

    init() async throws {
        folder = try TemporaryFolder()
        let failing = folder.file("failing")
        origin = try await Origin.start(
            .init {
                $0.directives = """
                    location = /kept { add_header Cache-Control max-age=600; return 200 body; }
                    location = /picture { types { } default_type image/png; return 200 picture; }
                    location = /document { types { } default_type application/json; return 200 "{}"; }
                    location = /confirmed {
                        add_header Cache-Control max-age=0 always; add_header ETag '"1"' always; add_header X-All headers always;
                        add_header Set-Cookie a=b always;
                        if ($http_if_none_match) { add_header X-News yes always; add_header Cache-Control max-age=600 always; return 304; }
                        return 200 body;
                    }
                    location = /secret { add_header Cache-Control no-store; return 200 secret; }
                    location = /failing { add_header Cache-Control "max-age=0, stale-if-error=600" always; if (-e FOLDER) { return 503; } return 200 body; }
                    location / { add_header Cache-Control max-age=0; }
                    """.replacing("FOLDER", with: failing)
            })
    }

    private func fetcher() throws -> Fetcher {
        var options = FetcherOptions.local
        options.diskFolder = URL(filePath: folder.file("cache"))
        return try Fetcher(options)
    }

    /// The response in one run of a program.
    private func response(_ path: String) async throws -> FetchResponse {
        let fetcher = try fetcher()
        let response = try await fetcher.response(for: FetchRequest(origin.url(path)))
        await fetcher.close()
        return response
    }

    @Test func `answers outlive the program`() async throws {
        let first = try await response("/kept")
        let second = try await response("/kept")
        #expect(first.source == .network && second.source == .disk)
        #expect(second.data == Data("body".utf8) && second.status == 200 && second.finalURL.absoluteString == origin.url("/kept"))
        #expect(try await origin.requests().count == 1)
        try await origin.stop()
    }

    @Test func `an answer that is out of date costs a 304`() async throws {
        let path = try #require(origin.files.last?.path)
        let first = try await response(path)
        for _ in 0..<2 {
            let again = try await response(path)
            #expect(again.source == .revalidated && again.data == first.data)
        }
        #expect(try await origin.requests().map(\.status) == [200, 304, 304])
        try await origin.stop()
    }

    @Test func `a picture without a lifetime is kept, and a document without one is fetched again`() async throws {
        for path in ["/picture", "/document"] { _ = try await response(path) }
        #expect(try await response("/picture").source == .disk)
        #expect(try await response("/document").source == .network)
        #expect(try await origin.requests().map(\.path) == ["/picture", "/document", "/document"])
        try await origin.stop()
    }

    @Test func `an answer on the disk has all headers, which a 304 brings up to date`() async throws {
        _ = try await response("/confirmed")
        let confirmed = try await response("/confirmed")
        #expect(confirmed.source == .revalidated && confirmed.headers["x-all"] == "headers" && confirmed.headers["x-news"] == "yes")
        let kept = try await response("/confirmed")
        #expect(kept.source == .disk && kept.headers["x-all"] == "headers" && kept.headers["x-news"] == "yes")
        #expect(kept.headers["set-cookie"] == nil && kept.headers["age"] != nil && kept.headers["date"] != nil)
        #expect(kept.headers["cache-control"] == "max-age=600" && kept.data == Data("body".utf8))
        #expect(try await origin.requests().map(\.status) == [200, 304])
        try await origin.stop()
    }

    @Test func `a folder that is no file URL is refused`() throws {
        for name in ["https://example.com/cache", "cache"] {
            let url = try #require(URL(string: name))
            #expect(throws: InvalidOptions.self) { try FetcherOptions { $0.diskFolder = url }.validate() }
        }
        for name in ["cache~", "~user", "/var/cache/~/x"] {
            #expect(throws: Never.self) { try FetcherOptions { $0.diskFolder = URL(filePath: name) }.validate() }
        }
    }

    @Test func `an empty path of the folder is refused, and the current folder can be named`() throws {
        let empty = try [
            URL(filePath: ""), URL(filePath: "", directoryHint: .isDirectory), URL(filePath: "", relativeTo: URL(filePath: folder.path)),
            #require(URL(string: "file://")), #require(URL(string: "file:")),
        ]
        for url in empty {
            let error = #expect(throws: InvalidOptions.self) { try Fetcher(FetcherOptions { $0.diskFolder = url }) }
            #expect(error?.description.contains("is empty") == true)
        }
        for url in [
            URL(filePath: "."), .currentDirectory(), URL(filePath: " "), URL(filePath: "a", relativeTo: URL(filePath: folder.path)),
        ] {
            #expect(throws: Never.self) { try FetcherOptions { $0.diskFolder = url }.validate() }
        }
    }

    @Test func `an answer that may not be kept is not on the disk`() async throws {
        _ = try await response("/secret")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        for file in files {
            guard let data = FileManager.default.contents(atPath: folder.file(file)) else { continue }
            #expect(data.firstRange(of: Data("secret".utf8)) == nil)
        }
        #expect(try await response("/secret").source == .network)
        try await origin.stop()
    }

    @Test func `a byte that has changed on the disk is never served`() async throws {
        _ = try await response("/kept")
        let file = try #require(try FileManager.default.subpathsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".record") })
        var data = try #require(FileManager.default.contents(atPath: folder.file(file)))
        data[data.count - 1] ^= 1
        try data.write(to: URL(filePath: folder.file(file)))
        let again = try await response("/kept")
        #expect(again.source == .network && again.data == Data("body".utf8))
        #expect(try await response("/kept").source == .disk)
        try await origin.stop()
    }

    @Test func `a removed answer stays removed after a restart`() async throws {
        let fetcher = try fetcher()
        let request = FetchRequest(origin.url("/kept"))
        _ = try await fetcher.data(for: request)
        await fetcher.remove(request)
        await fetcher.close()
        #expect(try await response("/kept").source == .network)
        try await origin.stop()
    }

    @Test func `a folder that is taken away is no more than a cache that is`() async throws {
        let fetcher = try fetcher()
        _ = try await fetcher.data(for: FetchRequest(origin.url("/kept")))
        try await eventually("the answer is on its way into the folder") { FileManager.default.fileExists(atPath: folder.file("cache")) }
        // In one step: it may not be there yet.
        try FileManager.default.moveItem(atPath: folder.file("cache"), toPath: folder.file("elsewhere"))
        #expect(try await fetcher.response(for: FetchRequest(origin.url("/kept"))).source == .memory)
        _ = try await fetcher.data(for: FetchRequest(origin.url("/1.bin")))
        await fetcher.close()
        try await origin.stop()
    }

    @Test func `answers that a folder does not take are counted, with the reason`() async throws {
        let file = try folder.write([], to: "file")
        let fetcher = try Fetcher(
            FetcherOptions {
                $0.allowedNetworks = FetcherOptions.local.allowedNetworks
                $0.diskFolder = URL(filePath: "\(file)/cache")
            })
        #expect(fetcher.statistics.diskFailures == 0 && fetcher.statistics.lastDiskFailure == nil)
        for number in 0..<5 { _ = try await fetcher.data(for: FetchRequest(origin.url("/kept?\(number)"))) }
        #expect(try await fetcher.response(for: FetchRequest(origin.url("/kept?0"))).source == .memory)
        await fetcher.close()
        let counts = fetcher.statistics
        #expect(counts.diskFailures == 5 && counts.downloads == 5)
        let sentence = try #require(counts.lastDiskFailure)
        #expect(sentence.contains(file) && sentence.hasSuffix(": Not a directory."))
        _ = try await response("/kept")
        try await origin.stop()
    }

    @Test func `an answer on disk replaces a failure of its origin for every caller`() async throws {
        _ = try await response("/failing")
        try folder.write([], to: "failing")
        let fetcher = try fetcher()
        for _ in 0..<3 {
            #expect(try await fetcher.response(for: FetchRequest(origin.url("/failing"))).source == .stale)
        }
        await fetcher.close()
        try await origin.stop()
    }
}
