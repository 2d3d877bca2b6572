import Foundation
import GannetBase
import GannetTestKit
import Testing

@testable import GannetHTTP

/// The caller decides before a redirect to another host is followed.
@Suite(.timeLimit(.minutes(3))) struct HopGateTests {
    /// Notes the hosts it is asked for, and answers as a test says.
    private final class Gate: HopGate {
        let hosts = Mutex<[String]>([])
        let asksAtEachHop: Bool
        private let answer: @Sendable (String) async -> Bool

        init(each asksAtEachHop: Bool = false, _ answer: @escaping @Sendable (String) async -> Bool = { _ in true }) {
            self.asksAtEachHop = asksAtEachHop
            self.answer = answer
        }

        func admits(_ hop: NextHop) async -> Bool {
            hosts.withLock { $0.append(hop.to.hostName) }
            return await answer(hop.to.hostName)
        }
    }

    /// The second of two hosts, and how often it was asked.
    private final class Second: Sendable {
        let origin: ScriptedOrigin
        private let count: Count

        private final class Count: Sendable { let value = Mutex(0) }

        init() {
            let count = Count()
            self.count = count
            origin = ScriptedOrigin {
                count.value.withLock { $0 += 1 }
                // A transfer whose time is over is given a millisecond, and this machine may be as quick as that.
                usleep(50_000)
                return $0.answer(body: Array("there".utf8))
            }
        }

        var port: UInt16 { origin.port }
        var requestCount: Int { count.value.withLock { $0 } }
    }

    /// Two hosts that are this machine: the first leads to the second.
    private func leading(to host: String = "localhost", timeout: Duration = .seconds(20)) throws -> (EngineFixture, Second) {
        let second = Second()
        let port = second.port
        let fixture = try EngineFixture {
            $0.timeout = timeout
            $0.allowedNetworks = ["127.0.0.0/8", "::1"]
        } script: { peer in
            if peer.path == "/1" { return peer.answer(302, headers: ["Location: /2"]) }
            return peer.answer(302, headers: ["Location: http://\(host):\(port)/"])
        }
        return (fixture, second)
    }

    private func request(_ fixture: EngineFixture) -> DownloadRequest {
        DownloadRequest(url: fixture.origin.url("/1"), body: .file(in: fixture.folder.path))
    }

    @Test func `it is asked for each other host, and not for the same`() async throws {
        let (fixture, second) = try leading()
        let gate = Gate()
        let download = try await fixture.engine.download(request(fixture), through: gate)
        #expect(try fixture.contents(download) == Array("there".utf8))
        #expect(download.hops.count == 2)
        #expect(gate.hosts.withLock { $0 } == ["localhost"])
        #expect(second.requestCount == 1)
    }

    @Test func `it is asked for another port, and a scheme's own port is none`() async throws {
        let (fixture, second) = try leading(to: "127.0.0.1")
        let gate = Gate()
        _ = try await fixture.engine.download(request(fixture), through: gate)
        #expect(gate.hosts.withLock { $0 } == ["127.0.0.1"] && second.requestCount == 1)
        let secure = NextHop(from: try CanonicalURL("http://h/"), to: try CanonicalURL("https://h/"))
        #expect(!secure.isElsewhere)
    }

    @Test func `a gate that asks for it is asked for each redirect, also within a host`() async throws {
        let (fixture, second) = try leading()
        let gate = Gate(each: true)
        #expect(try await fixture.engine.download(request(fixture), through: gate).hops.count == 2)
        #expect(gate.hosts.withLock { $0 } == ["127.0.0.1", "localhost"])
        let refusing = Gate(each: true) { _ in false }
        await #expect(throws: FetchError.self) { try await fixture.engine.download(request(fixture), through: refusing) }
        #expect(refusing.hosts.withLock { $0 } == ["127.0.0.1"] && second.requestCount == 1)
    }

    @Test func `where it says no, no request is made, and nothing is left`() async throws {
        let (fixture, second) = try leading()
        await #expect(throws: FetchError.self) { try await fixture.engine.download(request(fixture), through: Gate { _ in false }) }
        #expect(second.requestCount == 0)
        #expect(try fixture.folder.files == [])
    }

    @Test func `the wait there is not the transfer's time`() async throws {
        // The answers themselves have to come within the time.
        try await withGrowingTime(from: .milliseconds(400), upTo: .milliseconds(6400)) { time in
            let (fixture, second) = try leading(timeout: time)
            let silent = try HostileServer(.silence)
            let later = DownloadRequest(url: "http://127.0.0.1:\(silent.port)/", body: .file(in: fixture.folder.path))
            let gate = Gate { _ in
                // A transfer that begins later comes to the end of the time for the whole.
                let error = await #expect(throws: FetchError.self) { try await fixture.engine.download(later) }
                return error?.kind == .timeout(.response)
            }
            let status = try? await fixture.engine.download(request(fixture), through: gate).status
            try await silent.stop()
            return status == 200 && second.requestCount == 1
        }
    }

    @Test func `a transfer that is cancelled there ends at once`() async throws {
        let (fixture, second) = try leading()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let gate = Gate { _ in
            arrived.yield()
            try? await Task.sleep(for: .seconds(3600))
            return !Task.isCancelled
        }
        let fetch = Task { try await fixture.engine.download(request(fixture), through: gate) }
        for await _ in arrivals { break }
        fetch.cancel()
        let error = await #expect(throws: FetchError.self) { try await fetch.value }
        #expect(error?.kind == .cancelled)
        #expect(second.requestCount == 0)
    }

    @Test func `an engine that ends answers a transfer that waits there`() async throws {
        let (fixture, _) = try leading()
        let gate = Gate { _ in
            fixture.engine.shutdown()
            return true
        }
        let error = await #expect(throws: FetchError.self) { try await fixture.engine.download(request(fixture), through: gate) }
        #expect(error?.kind == .cancelled)
    }
}
