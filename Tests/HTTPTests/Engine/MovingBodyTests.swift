import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

/// Bodies that move, stand still or drip, on real connections.
@Suite(.timeLimit(.minutes(2))) struct MovingBodyTests {
    /// The origin sends each piece when the one before has come, so that the body moves without a pause.
    private final class Steps: Sendable {
        private let arrived = DispatchSemaphore(value: 0)

        func came() { arrived.signal() }

        /// Sends pieces for so long. False when the client has left.
        func send(to peer: Peer, for time: Duration) -> Bool {
            let end = ContinuousClock.now + time
            repeat {
                guard peer.send([UInt8](repeating: 7, count: 100)), arrived.wait(timeout: .now() + 20) == .success else { return false }
            } while .now < end
            return true
        }
    }

    private static let head = "HTTP/1.1 200 OK\r\n\r\n"

    /// - Parameter time: How long the body moves; nil for ever.
    private func outcome(
        of change: (inout FetchSettings) -> Void, moving time: Duration?, then end: @escaping @Sendable (Peer) -> Bool
    ) async throws -> (Result<Download, FetchError>, received: Int64) {
        let steps = Steps()
        let fixture = try EngineFixture(options: change) { peer in
            peer.send(Self.head)
            guard steps.send(to: peer, for: time ?? .seconds(3600)) else { return false }
            return end(peer)
        }
        let received = LastCount()
        let request = DownloadRequest(url: fixture.origin.url("/"), body: .memory(upTo: 1 << 30, thenFileIn: fixture.folder.path)) {
            guard $0.received > 0 else { return }
            received.note($0.received)
            steps.came()
        }
        do throws(FetchError) {
            return (.success(try await fixture.engine.download(request)), received.value)
        } catch {
            return (.failure(error), received.value)
        }
    }

    @Test func `a body that moves for longer than the timeout comes whole`() async throws {
        try await withGrowingTime(from: .milliseconds(300), upTo: .seconds(5)) { time in
            let (outcome, received) = try await outcome(of: { $0.timeout = time }, moving: time * 2) { _ in false }
            guard case .success(let download) = outcome else { return false }
            #expect(download.byteCount == received)
            #expect(received > 0)
            return true
        }
    }

    @Test func `a body that stands still after it has moved for longer than the timeout is a timeout within the body`() async throws {
        try await withGrowingTime(from: .milliseconds(300), upTo: .seconds(5)) { time in
            let (outcome, _) = try await outcome(of: { $0.timeout = time }, moving: time * 2) { $0.waitForClose() }
            guard case .failure(let error) = outcome else {
                Issue.record("a body that stands still came whole")
                return true
            }
            guard error.kind == .timeout(.body) else { return false }
            #expect(error.detail.hasPrefix("nothing came for "))
            return true
        }
    }

    @Test func `a body that drips without an end is too slow`() async throws {
        try await withGrowingTime(from: .milliseconds(300), upTo: .seconds(5)) { time in
            let (outcome, _) = try await outcome(
                of: {
                    $0.timeout = time
                    $0.minimumSpeed = Int(Int32.max)
                }, moving: nil
            ) { _ in false }
            guard case .failure(let error) = outcome, error.kind == .tooSlow else { return false }
            #expect(error.detail.contains(" bytes in "))
            return true
        }
    }

    @Test func `a body that has lasted longer than the timeout has to be faster than before`() async throws {
        try await withGrowingTime(from: .milliseconds(300), upTo: .seconds(5)) { time in
            let (outcome, received) = try await outcome(
                of: {
                    $0.timeout = time
                    $0.lastingSpeed = Int(Int32.max)
                }, moving: nil
            ) { _ in false }
            guard case .failure(let error) = outcome, error.kind == .tooSlow else { return false }
            // The windows before were good enough.
            #expect(received > 0)
            return true
        }
    }

    @Test func `a transfer whose origin floods without a body can be cancelled`() async throws {
        let flood = Array("1;\(String(repeating: "x", count: 60_000))\r\nx\r\n".utf8)
        let fixture = try EngineFixture { peer in
            peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while peer.send(flood) {}
            return false
        }
        let (moves, continuation) = AsyncStream.makeStream(of: Void.self)
        let request = DownloadRequest(url: fixture.origin.url("/"), body: .memory(upTo: 1 << 20, thenFileIn: fixture.folder.path)) {
            if $0.received > 20 { continuation.yield() }
        }
        let task = Task { try await fixture.engine.download(request) as Download }
        for await _ in moves { break }
        task.cancel()
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
    }
}

/// How much had come at the last report.
private final class LastCount: Sendable {
    private let state = Monitor<Int64>(0)
    var value: Int64 { state.update { $0 } }
    func note(_ count: Int64) { state.update { $0 = count } }
}
