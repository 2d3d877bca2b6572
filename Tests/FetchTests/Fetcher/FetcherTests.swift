import Foundation
import GannetFetch
import GannetTestKit
import Testing

/// A fetcher at a real nginx, whose log tells what it was asked for.
struct FetcherTests {
    private static func origin(_ directives: String = "") async throws -> Origin {
        try await Origin.start(.init { $0.directives = directives })
    }

    @Test func `ten thousand calls for one URL make one request, and later ones none`() async throws {
        let origin = try await Self.origin("location = /a { add_header Cache-Control max-age=3600; return 200 body; }")
        let fetcher = try Fetcher(.local)
        let request = FetchRequest(origin.url("/a"))
        let bodies = await withTaskGroup { group in
            for _ in 0..<10_000 { group.addTask { try? await fetcher.data(for: request) } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(bodies == [Data("body".utf8): 10_000])
        let response = try await fetcher.response(for: request)
        #expect(response.source == .memory && response.status == 200 && response.finalURL.absoluteString == origin.url("/a"))
        #expect(try await origin.requests().count == 1)
        try await origin.stop()
    }

    @Test func `callers share an answer that may not be kept, and the next one asks again`() async throws {
        let server = try HostileServer(
            .readUntil("\r\n\r\n"), .pause(.milliseconds(100)),
            .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nhi"),
            .silence)
        let fetcher = try Fetcher(.local)
        let request = FetchRequest("http://127.0.0.1:\(server.port)/")
        let sizes = await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { try? await fetcher.data(for: request).count } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(sizes == [2])
        #expect(fetcher.statistics.downloads == 1)
        await fetcher.close()
        try await server.stop()
    }

    @Test func `URLs that differ only in form share an answer, and a header makes a difference`() async throws {
        let origin = try await Self.origin("location = /a { add_header Cache-Control max-age=3600; return 200 $http_accept_language; }")
        let fetcher = try Fetcher(.local)
        _ = try await fetcher.data(for: FetchRequest(origin.url("/a")))
        let other = try await fetcher.response(for: FetchRequest("HTTP://127.0.0.1:\(origin.port)/b/../a#part"))
        #expect(other.source == .memory)
        let german = try await fetcher.response(for: FetchRequest(origin.url("/a")) { $0.headers = ["Accept-Language": "de"] })
        #expect(german.source == .network && german.data == Data("de".utf8))
        #expect(try await origin.requests().count == 2)
        try await origin.stop()
    }

    @Test func `an answer that is out of date costs a 304 and no body`() async throws {
        let origin = try await Self.origin("location / { add_header Cache-Control max-age=0; }")
        let file = try #require(origin.files.last)
        let fetcher = try Fetcher(.local)
        let request = FetchRequest(origin.url(file.path))
        let first = try await fetcher.response(for: request)
        let second = try await fetcher.response(for: request)
        #expect(first.source == .network && second.source == .revalidated && second.data == first.data && second.status == 200)
        #expect(try await origin.requests().map(\.status) == [200, 304])
        #expect(fetcher.statistics.bytes == Int64(file.size))
        try await origin.stop()
    }

    @Test func `a failure is thrown as what it is, and remembered for a while where that is wanted`() async throws {
        let origin = try await Self.origin()
        var options = FetcherOptions.local
        options.freshness.failures = .brief
        let fetcher = try Fetcher(options)
        let request = FetchRequest(origin.url("/none"))
        for _ in 0..<2 {
            let error = await #expect(throws: FetchError.self) { try await fetcher.data(for: request) }
            #expect(error?.kind == .status(404))
        }
        #expect(try await origin.requests().count == 1)
        let again = await #expect(throws: FetchError.self) {
            try await fetcher.data(for: FetchRequest(request.url) { $0.refresh = true })
        }
        #expect(again?.kind == .status(404))
        #expect(try await origin.requests().count == 2)
        let bad = await #expect(throws: FetchError.self) { try await fetcher.data(for: FetchRequest("ftp://a/")) }
        #expect(bad?.kind == .invalidURL)
        try await origin.stop()
    }

    @Test func `a failure is asked for again by default`() async throws {
        let origin = try await Self.origin("location = /failing { return 503; }")
        let fetcher = try Fetcher(.local)
        for _ in 0..<2 {
            let error = await #expect(throws: FetchError.self) { try await fetcher.data(for: FetchRequest(origin.url("/failing"))) }
            #expect(error?.kind == .status(503))
        }
        #expect(try await origin.requests().count == 2)
        try await origin.stop()
    }

    @Test func `the public internet is all that may be fetched from unless it is said otherwise`() async throws {
        let error = await #expect(throws: FetchError.self) { try await Fetcher().data(from: #require(URL(string: "http://127.0.0.1:1/"))) }
        #expect(error?.kind == .refusedAddress)
    }

    @Test func `the error of a refused network names the option that allows it, for callers, values and the observer`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let sentence =
            "The address is not public and not permitted (http://127.0.0.1:1/): 127.0.0.1 is a loopback address, "
            + "and the network 127.0.0.1/32 is not allowed; add the network to allowedNetworks in FetcherOptions."
        let heard = Monitor<[String]>([])
        let fetcher = try Fetcher(
            FetcherOptions {
                $0.observer = { event in if case .failed(let error, _) = event { heard.update { $0.append(error.description) } } }
            })
        let ofData = await #expect(throws: FetchError.self) { try await fetcher.data(from: url) }
        let ofValue = await #expect(throws: FetchError.self) { try await fetcher.value(from: url) { $0.count } }
        let ofTask = await #expect(throws: FetchError.self) { try await fetcher.task(for: FetchRequest(url)).value }
        #expect([ofData, ofValue, ofTask].map { $0?.description } == [sentence, sentence, sentence])
        let told = heard.update { $0 }
        #expect(told == [sentence, sentence, sentence])
        // The error of one fetcher may reach a caller through another one.
        let outer = try Fetcher { _ in try await fetcher.response(for: FetchRequest(url)) }
        let passedOn = await #expect(throws: FetchError.self) { try await outer.data(from: url) }
        #expect(passedOn?.description == sentence)
    }

    @Test(arguments: [
        ImageLimits(pixels: -1), ImageLimits(side: -1), ImageLimits(pixels: .min, side: .min),
    ]) func `limits of images must not be negative`(_ limits: ImageLimits) throws {
        let options = FetcherOptions { $0.imageLimits = limits }
        let error = #expect(throws: InvalidOptions.self) { try options.validate() }
        #expect(error?.description == "The limits of images must not be negative.")
        #expect(throws: InvalidOptions.self) { try Fetcher(options) }
    }

    @Test func `a removed answer is fetched again, and so is all after clearing`() async throws {
        let origin = try await Self.origin("location = /a { add_header Cache-Control max-age=3600; return 200 body; }")
        let fetcher = try Fetcher(.local)
        let url = try #require(URL(string: origin.url("/a")))
        _ = try await fetcher.data(from: url)
        await fetcher.remove(url)
        _ = try await fetcher.data(from: url)
        await fetcher.clear()
        _ = try await fetcher.data(from: url)
        #expect(try await origin.requests().count == 3)
        try await origin.stop()
    }
}
