import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

extension FetchSettings {
    /// Gives up for no other reason before this time is over. A slow handshake and a slow body have less time otherwise.
    mutating func bePatient(for time: Duration) {
        (timeout, connectTimeout, answerTimeout, minimumSpeed) = (time, time, time, 0)
    }
}

/// The evil origin, an engine with little patience, and a folder.
struct EvilBench {
    let origin: EvilOrigin
    let engine: CurlDownloader
    let folder: TemporaryFolder

    static let patience = Duration.seconds(1)
    static let maximumBody: Int64 = 2_000_000
    static let maximumRedirects = 5
    static let good = String(decoding: EvilOrigin.goodBody, as: UTF8.self)

    init(_ change: (inout FetchSettings) -> Void = { _ in }) async throws {
        // Of its own, because it counts connections and answers, and tests run beside each other.
        try await self.init(EvilOrigin(try await Certificates.shared), change)
    }

    init(_ origin: EvilOrigin, _ change: (inout FetchSettings) -> Void = { _ in }) async throws {
        self.origin = origin
        folder = try TemporaryFolder()
        var settings = FetchSettings()
        settings.timeout = Self.patience
        settings.connectTimeout = .milliseconds(400)
        settings.maximumBody = Self.maximumBody
        settings.maximumRedirects = Self.maximumRedirects
        settings.answerTimeout = .seconds(30)
        settings.allowedNetworks = ["127.0.0.1"]
        settings.caFile = try await Certificates.shared.authority
        change(&settings)
        engine = try CurlDownloader(settings)
    }

    /// The outcome of a fetch, and its texts that people may read.
    struct Report {
        var outcome: EvilOutcome
        var texts: [String]
    }

    /// The one place where these tests meet the engine: fetches, and takes the body away.
    func report(_ url: String, headers: [HeaderField] = []) async throws -> Report {
        let download: Download
        do throws(FetchError) {
            download = try await engine.download(
                DownloadRequest(url: url, body: .memory(upTo: 10_000, thenFileIn: folder.path), headers: headers))
        } catch {
            return Report(outcome: .fails(error.kind), texts: [error.description])
        }
        #expect(download.hops.count <= Self.maximumRedirects)
        return Report(outcome: .gives(try take(download)), texts: [download.finalURL, download.contentType ?? ""])
    }

    func fetch(_ url: String, headers: [HeaderField] = []) async throws -> EvilOutcome {
        try await report(url, headers: headers).outcome
    }

    func fetch(_ behaviour: EvilBehaviour) async throws -> EvilOutcome { try await fetch(origin.url(behaviour)) }

    /// Fetches all of these at a time, does the work once every server has been met, and stops the engine. Returns the outcomes.
    func during(_ behaviours: [EvilBehaviour], _ work: () async throws -> Void) async throws -> [EvilOutcome] {
        let before = behaviours.map { origin.count($0).connections }
        return try await withThrowingTaskGroup(of: EvilOutcome.self) { group in
            for behaviour in behaviours { group.addTask { try await fetch(behaviour) } }
            for (behaviour, count) in zip(behaviours, before) { try await origin.wait(for: behaviour) { $0.connections > count } }
            try await work()
            engine.shutdown()
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The pause that the host asked for, in an error.
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
}
