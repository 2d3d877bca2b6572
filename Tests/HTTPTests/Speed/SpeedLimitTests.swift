import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP

/// The engine under a limit on its speed.
@Suite(.timeLimit(.minutes(3))) struct SpeedLimitTests {
    /// At this limit a body that is larger than one piece does not come within the time of any test.
    private static let crawl = 1024

    private static func body(_ number: Int, count: Int = 30_000) -> [UInt8] {
        var random = SeededBytes(seed: UInt64(number))
        return random.next(count: count)
    }

    private static func number(_ peer: Peer) -> Int { Int(peer.path.dropFirst()) ?? 0 }

    /// The body of the path's number: with its length, packed, or in chunks that are smaller than a piece, in turn.
    @Sendable private static func answer(_ peer: Peer) -> Bool {
        let number = number(peer)
        let body = body(number)
        switch number % 3 {
        case 0: return peer.answer(body: body)
        case 1: return peer.answer(headers: ["Content-Encoding: gzip"], body: Deflated.gzip(body))
        default:
            var bytes = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            for start in stride(from: 0, to: body.count, by: 700) {
                let chunk = body[start..<min(start + 700, body.count)]
                bytes += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            }
            return peer.send(bytes + Array("0\r\n\r\n".utf8))
        }
    }

    private static func kind(of task: Task<Download, any Error>) async -> FetchError.Kind? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return (error as? FetchError)?.kind
        }
    }

    /// A download that the limit has paused. Its first piece has come.
    private func pausedDownload(_ fixture: EngineFixture, _ path: String) async throws -> Task<Download, any Error> {
        let (pieces, continuation) = AsyncStream.makeStream(of: Int64.self)
        let request = DownloadRequest(url: fixture.origin.url(path), body: .file(in: fixture.folder.path)) {
            continuation.yield($0.received)
        }
        let task = Task { try await fixture.engine.download(request) as Download }
        try await bounded("a piece of \(path) comes") { for await received in pieces where received > 0 { return } }
        return task
    }

    @Test func `transfers that share a small limit all end whole, whatever their coding`() async throws {
        let fixture = try EngineFixture(options: { $0.maximumSpeed = 512 << 10 }, script: Self.answer)
        let count = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<24 {
                group.addTask {
                    let download = try await fixture.get("/\(number)")
                    #expect(try fixture.contents(download) == Self.body(number), "/\(number)")
                    return download.transferredBytes
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count >= 24 * 30_000)
    }

    @Test func `a transfer that the limit holds back for longer than its timeout comes whole`() async throws {
        try await withGrowingTime(from: .milliseconds(500), upTo: .milliseconds(1500)) { time in
            let fixture = try EngineFixture {
                $0.maximumSpeed = 20 << 10
                $0.timeout = time
                $0.minimumSpeed = 1 << 30
                $0.lastingSpeed = 1 << 30
            } script: {
                $0.answer(body: Self.body(1, count: 64_000))
            }
            guard let download = try? await fixture.get() else { return false }
            return try fixture.contents(download) == Self.body(1, count: 64_000)
        }
    }

    @Test func `packed bodies count as they are sent`() async throws {
        let fixture = try EngineFixture {
            $0.maximumSpeed = Self.crawl
        } script: {
            $0.answer(headers: ["Content-Encoding: gzip"], body: Deflated.gzip([UInt8](repeating: 7, count: 1_000_000)))
        }
        #expect(try await fixture.get().byteCount == 1_000_000)
    }

    @Test func `bodies that are thrown away count too, and the time of the limit is not theirs`() async throws {
        try await withGrowingTime(from: .milliseconds(300), upTo: .milliseconds(1500)) { time in
            let fixture = try EngineFixture {
                $0.maximumSpeed = 16 << 10
                $0.timeout = time
            } script: { peer in
                if peer.path == "/end" { return peer.answer(body: [1]) }
                return peer.answer(302, headers: ["Location: /end"], body: Self.body(1, count: 48_000))
            }
            guard let download = try? await fixture.get() else { return false }
            // The byte at the end would come at once if it were the first. No machine is so fast that it comes sooner than the limit permits.
            #expect(download.duration > .seconds(1))
            return true
        }
    }

    @Test func `a paused transfer is not too slow`() async throws {
        let fixture = try EngineFixture {
            $0.maximumSpeed = 20 << 10
            $0.minimumSpeed = 1 << 30
            $0.minimumSpeedWindow = .seconds(1)
        } script: {
            $0.answer(body: Self.body(1, count: 64_000))
        }
        #expect(try await fixture.contents(fixture.get()) == Self.body(1, count: 64_000))
    }

    @Test func `a cancelled transfer ends while it is paused, and the next one has its turn`() async throws {
        let fixture = try EngineFixture {
            $0.maximumSpeed = 64 << 10
        } script: { peer in
            peer.answer(body: peer.path == "/large" ? [UInt8](repeating: 1, count: 50_000_000) : Self.body(2))
        }
        let large = [try await pausedDownload(fixture, "/large"), try await pausedDownload(fixture, "/large")]
        let small = Task { try await fixture.get("/small") as Download }
        for task in large { task.cancel() }
        for task in large { #expect(await Self.kind(of: task) == .cancelled) }
        #expect(try await fixture.contents(small.value) == Self.body(2))
        #expect(fixture.folder.openFiles == [])
        #expect(try fixture.folder.files.count == 1)
    }

    @Test func `an engine that is shut down ends what is paused`() async throws {
        let fixture = try EngineFixture(options: { $0.maximumSpeed = Self.crawl }, script: { $0.answer(body: Self.body(1)) })
        let task = try await pausedDownload(fixture, "/")
        fixture.engine.shutdown()
        #expect(await Self.kind(of: task) == .cancelled)
        #expect(try fixture.folder.files == [])
        await fixture.origin.wait { $0 == .closed }
    }

    @Test(arguments: [200, 404])
    func `a body that turns out too long while it is held back ends its transfer alone`(status: Int) async throws {
        let fixture = try EngineFixture {
            $0.maximumSpeed = 128 << 10
            $0.maximumBody = 60_000
        } script: { peer in
            guard peer.path == "/long" else { return peer.answer(body: Self.body(3)) }
            peer.send("HTTP/1.1 \(status) X\r\n\r\n")
            peer.send([UInt8](repeating: 1, count: 200_000))
            return false
        }
        let other = Task { try await fixture.get("/other") as Download }
        let long = Task { try await fixture.get("/long") as Download }
        #expect(await Self.kind(of: long) == (status == 200 ? .tooLarge : .status(404)))
        #expect(try await fixture.contents(other.value) == Self.body(3))
    }

    @Test(arguments: [nil, 1 << 20])
    func `under a limit HTTP/1.1 is spoken, where no request waits behind a paused one`(speed: Int?) async throws {
        let certificates = try await Certificates.shared
        let server = try await Origin.start(
            .init {
                $0.certificate = certificates.good
                $0.directives = "location = /version { return 200 $server_protocol; }"
            })
        let fixture = try EngineFixture {
            $0.caFile = certificates.authority
            $0.maximumSpeed = speed
        } script: {
            $0.answer()
        }
        let download = try await fixture.get(url: "https://127.0.0.1:\(try #require(server.tlsPort))/version")
        let version = String(decoding: try fixture.contents(download), as: UTF8.self)
        #expect(version == (speed == nil ? "HTTP/2.0" : "HTTP/1.1"))
        try await server.stop()
    }

    @Test(arguments: [-1, 0, 1023, (1 << 40) + 1])
    func `a limit that could not be meant is refused`(speed: Int) {
        var settings = FetchSettings()
        settings.maximumSpeed = speed
        let refused = settings
        #expect(throws: InvalidOptions("The speed limit must be from 1 KiB to 1 TiB a second.")) { try refused.validate() }
    }
}
