import Foundation
import GannetTestKit
import Testing

@testable import HTTPEngine

/// The evil origin, an engine with little patience, and a folder.
struct EvilBench {
    let origin: EvilOrigin
    let engine: CurlDownloader
    let folder: TemporaryFolder

    /// One for the whole test process; it serves any number of engines.
    private static let sharedOrigin = Task { try EvilOrigin(try await Certificates.shared) }

    static let patience = Duration.seconds(1)
    static let maximumBody: Int64 = 2_000_000
    static let maximumRedirects = 5
    static let good = String(decoding: EvilOrigin.goodBody, as: UTF8.self)

    init(_ change: (inout DownloaderOptions) -> Void = { _ in }) async throws {
        origin = try await Self.sharedOrigin.value
        folder = try TemporaryFolder()
        var options = DownloaderOptions()
        options.timeout = Self.patience
        options.connectTimeout = .milliseconds(400)
        options.maximumBody = Self.maximumBody
        options.maximumRedirects = Self.maximumRedirects
        options.addressGuard = try AddressGuard(parsing: ["127.0.0.1"])
        options.caFile = try await Certificates.shared.authority
        change(&options)
        engine = try CurlDownloader(options)
    }

    /// The one place where these tests meet the engine: fetches, takes the body away, and looks at what every outcome must be like.
    func fetch(_ url: String, headers: [HeaderField] = []) async throws -> EvilOutcome {
        let download: Download
        do throws(FetchError) {
            download = try await engine.download(
                DownloadRequest(url: url, body: .memory(upTo: 10_000, thenFileIn: folder.path), headers: headers))
        } catch {
            expectHarmless(error.description)
            return .fails(error.kind)
        }
        expectHarmless(download.finalURL)
        if let type = download.contentType { expectHarmless(type) }
        #expect(download.hops.count <= Self.maximumRedirects)
        return try .gives(take(download))
    }

    func fetch(_ behaviour: EvilBehaviour) async throws -> EvilOutcome { try await fetch(origin.url(behaviour)) }

    /// How long the host asked to be left alone, in an error.
    func retryAfter(_ behaviour: EvilBehaviour) async throws -> Duration? {
        do throws(FetchError) {
            let body = BodyDestination.file(in: folder.path)
            _ = try await engine.download(DownloadRequest(url: origin.url(behaviour), body: body))
            return nil
        } catch {
            return error.retryAfter
        }
    }

    private func take(_ download: Download) throws -> String {
        let bytes: [UInt8]
        switch download.body {
        case .bytes(let body): bytes = body
        case .file(let path, _):
            defer { try? FileManager.default.removeItem(atPath: path) }
            bytes = try contents(ofFile: path)
        }
        #expect(download.byteCount == bytes.count)
        #expect(bytes.count <= Self.maximumBody)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What comes from a stranger and is shown to people must neither steer a terminal nor fill a log.
    private func expectHarmless(_ text: String) {
        #expect(
            text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "control characters in \(text.debugDescription)")
        #expect(text.utf8.count <= 4096, "\(text.utf8.count) bytes of text")
    }
}
