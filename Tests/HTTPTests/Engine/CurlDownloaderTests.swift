import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(5))) struct CurlDownloaderTests {
    /// A body that differs from every other number's in length and content.
    private static func body(_ number: Int) -> [UInt8] {
        (0..<(number * 97 % 50_000)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
    }

    @Test("A body arrives in a file, with its type, length and digest")
    func success() async throws {
        let fixture = try EngineFixture { $0.answer(headers: ["Content-Type: text/plain"], body: Array("hello".utf8)) }
        let start = ContinuousClock.now
        let download = try await fixture.get("/a?b=c#d")
        let whole = ContinuousClock.now - start
        #expect(try fixture.contents(download) == Array("hello".utf8))
        #expect(download.body.digest == SHA256Digest(of: "hello".utf8))
        #expect(download.byteCount == 5)
        #expect(download.status == 200)
        #expect(download.contentType == "text/plain")
        #expect(download.hops == [])
        #expect(download.duration > .zero && download.duration <= whole)
        guard case .file(let path, _) = download.body else { throw CancellationError() }
        #expect(path.hasPrefix(fixture.folder.path + "/.gannet-"))
        #expect(fixture.folder.openFiles == [])
    }

    @Test("An empty body is an empty file", arguments: [200, 204])
    func empty(status: Int) async throws {
        let fixture = try EngineFixture { peer in
            status == 204 ? peer.send("HTTP/1.1 204 No Content\r\n\r\n") : peer.answer()
        }
        let download = try await fixture.get()
        #expect(try fixture.contents(download) == [])
        #expect(download.body.digest == SHA256Digest(of: []))
        #expect(download.contentType == nil)
    }

    @Test("300 files over 64 downloads at a time arrive whole, over connections used again")
    func many() async throws {
        let fixture = try EngineFixture { peer in
            peer.answer(body: Self.body(Int(peer.path.dropFirst()) ?? 0))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                if number >= 64 { try await group.next() }
                group.addTask {
                    let download = try await fixture.get("/\(number)")
                    let body = Self.body(number)
                    #expect(download.body.digest == SHA256Digest(of: body))
                    #expect(download.byteCount == Int64(body.count))
                    #expect(try fixture.contents(download) == body)
                }
            }
            try await group.waitForAll()
        }
        #expect(try fixture.folder.files.count == 300)
        let origin = fixture.origin
        fixture.engine.shutdown()
        var accepted = 0
        var closed = 0
        for await event in origin.events {
            if event == .accepted { accepted += 1 }
            if event == .closed { closed += 1 }
            if closed == accepted { break }
        }
        #expect(accepted <= 64)
    }

    @Test("Redirects are followed and reported with their headers, and the last URL has no credentials")
    func redirects() async throws {
        let fixture = try EngineFixture { peer in
            switch peer.path {
            case "/1": peer.answer(302, headers: ["Location: /2", "Cache-Control: max-age=7"], body: Array("moved".utf8))
            case "/2": peer.answer(308, headers: ["Location: 3?x"])
            default: peer.answer(body: Array("here".utf8))
            }
        }
        let download = try await fixture.get(url: fixture.origin.url("/1", credentials: "me:pw@"))
        #expect(download.hops.map(\.status) == [302, 308])
        #expect(download.hops.map { $0.headers["cache-control"] } == ["max-age=7", nil])
        #expect(download.headers["location"] == nil)
        #expect(download.hops.map(\.url) == [fixture.origin.url("/1"), fixture.origin.url("/2")])
        #expect(download.finalURL == fixture.origin.url("/3?x"))
        #expect(try fixture.contents(download) == Array("here".utf8))
    }

    @Test("Nothing of one transfer shows in the next: no credentials, headers or cookies")
    func isolation() async throws {
        let fixture = try EngineFixture {
            $0.maximumInFlight = 1
        } script: { peer in
            peer.answer(headers: ["Set-Cookie: a=b"], body: Array(peer.head.lowercased().utf8))
        }
        let header = try #require(HeaderField(name: "X-Secret", value: "s"))
        let url = fixture.origin.url("/", credentials: "me:pw@")
        let first = try await fixture.engine.download(DownloadRequest(url: url, body: .file(in: fixture.folder.path), headers: [header]))
        let firstHead = String(decoding: try fixture.contents(first), as: UTF8.self)
        #expect(firstHead.contains("authorization: basic") && firstHead.contains("x-secret: s"))

        let secondHead = String(decoding: try fixture.contents(try await fixture.get()), as: UTF8.self)
        #expect(!secondHead.contains("authorization") && !secondHead.contains("x-secret") && !secondHead.contains("cookie"))
        #expect(secondHead.contains("user-agent: \(FetchSettings.defaultUserAgent)\r\n"))
    }

    @Test("Settings out of bounds are refused with a sentence")
    func options() throws {
        let changes: [(inout FetchSettings) -> Void] = [
            { $0.timeout = .zero }, { $0.connectTimeout = .seconds(-1) }, { $0.maximumBody = 0 }, { $0.maximumInFlight = 0 },
            { $0.maximumRedirects = -1 }, { $0.userAgent = "a\r\nb" }, { $0.caFile = "/dev/null/missing" }, { $0.minimumSpeed = -1 },
            { $0.maximumHeaders = 0 }, { $0.proxy = "proxy" }, { $0.allowedNetworks = ["10.0.0.1/8"] }, { $0.maximumBody = .max },
            { $0.answerTimeout = .zero }, { $0.minimumSpeedWindow = .zero },
            { $0.lastingSpeed = -1 },
        ]
        for change in changes {
            var options = FetchSettings()
            change(&options)
            let error = #expect(throws: InvalidOptions.self) { try CurlDownloader(options) }
            #expect(error?.description.hasSuffix(".") == true)
        }
    }
}
