import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// Further attempts after failures that may pass.
struct RetryTests {
    private let origin = ScriptedOrigin()
    private let pauses = Monitor<[Duration]>([])

    private func fetch(_ most: Int, _ change: (inout CachingFetch.Parts) -> Void = { _ in }) -> CachingFetch {
        origin.fetch {
            $0.retries.most = most
            $0.random = { 1 }
            $0.sleep = { [pauses] pause in pauses.update { $0.append(pause) } }
            change(&$0)
        }
    }

    @Test func `a failure that may pass is attempted again for all callers, after growing pauses`() async throws {
        let events = Monitor<[FetchEvent]>([])
        origin.answers(
            ScriptedOrigin.failure(.reset), ScriptedOrigin.failure(.status(500)), ScriptedOrigin.failure(.timeout(.connect)),
            ScriptedOrigin.ok("one"))
        let fetch = fetch(3) { $0.observer = { event in events.update { $0.append(event) } } }
        #expect(try await fetch.text() == "one from network")
        #expect(pauses.update { $0 } == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(fetch.statistics.retries == 3 && fetch.statistics.failures == 3 && origin.requests.count == 4)
        let attempts = events.update { $0 }.compactMap { event in if case .retrying(_, let attempt, _) = event { attempt } else { nil } }
        #expect(attempts == [1, 2, 3])
    }

    @Test(arguments: [.status(404), .tls, .tooLarge, .status(403)] as [FetchError.Kind])
    func `a failure that will not pass is not attempted again`(_ kind: FetchError.Kind) async throws {
        origin.answers(ScriptedOrigin.failure(kind))
        let fetch = fetch(5)
        await #expect(throws: FetchError.self) { try await fetch.text() }
        #expect(origin.requests.count == 1)
    }

    @Test func `after the last attempt the failure is the caller's`() async throws {
        origin.answers(ScriptedOrigin.failure(.reset))
        let fetch = fetch(2)
        let error = await #expect(throws: FetchError.self) { try await fetch.text() }
        #expect(error?.kind == .reset && origin.requests.count == 3)
    }

    @Test func `a host that asks for a pause gets it, and a pause that is too long ends the attempts`() async throws {
        let short = FetchError(kind: .status(429), url: "http://a/", retryAfter: .seconds(20))
        let long = FetchError(kind: .status(429), url: "http://a/", retryAfter: .seconds(31))
        origin.answers(.failure(short), .failure(long))
        let fetch = fetch(9)
        let error = await #expect(throws: FetchError.self) { try await fetch.text() }
        #expect(error?.retryAfter == .seconds(31) && origin.requests.count == 2)
        #expect(pauses.update { $0 } == [.seconds(20)])
    }

    @Test func `a caller that leaves during a pause ends the fetch`() async throws {
        origin.answers(ScriptedOrigin.failure(.reset))
        let asleep = Monitor(false)
        let fetch = fetch(5) {
            $0.sleep = { _ in
                asleep.update { $0 = true }
                try await Task.sleep(for: .seconds(3600))
            }
        }
        let caller = Task { try await fetch.text() }
        try await asleep.wait { $0 ? () : nil }
        caller.cancel()
        _ = await caller.result
        #expect(await fetch.waiting == 0 && origin.requests.count == 1)
    }
}
