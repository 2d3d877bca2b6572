import GannetTestKit
import Testing

@testable import GannetHTTP

/// An engine that may talk to this machine, an origin and a folder.
struct EngineFixture {
    let origin: ScriptedOrigin
    let folder: TemporaryFolder
    let engine: CurlDownloader

    init(_ script: @escaping @Sendable (Peer) -> Bool = { $0.answer() }) throws {
        try self.init(options: { _ in }, script: script)
    }

    init(options change: (inout FetchSettings) -> Void, script: @escaping @Sendable (Peer) -> Bool) throws {
        origin = ScriptedOrigin(script)
        folder = try TemporaryFolder()
        var settings = FetchSettings()
        settings.allowedNetworks = ["127.0.0.1"]
        settings.answerTimeout = .seconds(30)
        change(&settings)
        engine = try CurlDownloader(settings)
    }

    func get(_ path: String = "/", headers: [HeaderField] = []) async throws(FetchError) -> Download {
        try await engine.download(DownloadRequest(url: origin.url(path), body: .file(in: folder.path), headers: headers))
    }

    func get(url: String) async throws(FetchError) -> Download {
        try await engine.download(DownloadRequest(url: url, body: .file(in: folder.path)))
    }

    /// The error of a fetch that must fail, having checked that it left nothing.
    func failure(_ path: String = "/", url: String? = nil) async throws -> FetchError {
        do {
            let download = try await get(url: url ?? origin.url(path))
            Issue.record("succeeded: \(download)")
            throw CancellationError()
        } catch let error as FetchError {
            #expect(try folder.files == [])
            #expect(folder.openFiles == [])
            return error
        }
    }

    func contents(_ download: Download) throws -> [UInt8] {
        switch download.body {
        case .bytes(let bytes): bytes
        case .file(let path, _): try GannetTestKit.contents(ofFile: path)
        }
    }
}
