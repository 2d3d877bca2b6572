import Foundation
import GannetFetch
import GannetTestKit
import Testing

/// Answers to requests that say who asks.
struct CredentialsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        arguments: [
            ("max-age=3600", [.network, .network, .network]), ("public, max-age=3600", [.network, .memory, .network]),
            ("s-maxage=3600", [.network, .memory, .network]), ("max-age=3600, must-revalidate", [.network, .memory, .network]),
        ] as [(String, [AnswerSource])])
    func `an answer for a URL with a password is kept only in memory, and only if it is for everybody`(
        control: String, sources: [AnswerSource]
    ) async throws {
        let downloader = ScriptedDownloader { _ in .answer("x", [("Cache-Control", control)]) }
        var found: [AnswerSource] = []
        // The second fetcher has the folder of the first, and a memory of its own.
        for calls in [2, 1] {
            let fetcher = try Fetcher(FetcherOptions { $0.diskFolder = URL(filePath: folder.path) }, downloader: downloader)
            for _ in 0..<calls { found.append(try await fetcher.response(for: FetchRequest("http://me:pw@h.example/")).source) }
            await fetcher.close()
        }
        #expect(found == sources)
    }

    @Test(arguments: [("max-age=3600", [.network, .network]), ("public, max-age=3600", [.network, .disk])] as [(String, [AnswerSource])])
    func `an answer for a header that speaks of a secret is kept only if it is for everybody`(
        control: String, sources: [AnswerSource]
    ) async throws {
        let downloader = ScriptedDownloader { _ in .answer("x", [("Cache-Control", control)]) }
        var found: [AnswerSource] = []
        for _ in 0..<2 {
            let fetcher = try Fetcher(FetcherOptions { $0.diskFolder = URL(filePath: folder.path) }, downloader: downloader)
            found.append(try await fetcher.response(for: FetchRequest("http://h.example/") { $0.headers = ["X-Sid": "s3cret"] }).source)
            await fetcher.close()
        }
        #expect(found == sources)
    }
}
