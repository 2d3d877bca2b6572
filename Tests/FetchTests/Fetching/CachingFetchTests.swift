import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// The answers that callers get while the kept answer gets old.
@Suite(.timeLimit(.minutes(2))) struct CachingFetchTests {
    private let origin = ScriptedOrigin()

    @Test func `a fresh answer is served without a request, and a stale one revalidated by its tag`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10"), ("ETag", "\"1\"")),
            ScriptedOrigin.notModified(("Cache-Control", "max-age=10"), ("ETag", "\"1\"")))
        let fetch = origin.fetch()
        #expect(try await fetch.text() == "one from network")
        origin.passes(.seconds(9))
        #expect(try await fetch.text() == "one from memory")
        origin.passes(.seconds(2))
        #expect(try await fetch.text() == "one from revalidated")
        origin.passes(.seconds(9))
        #expect(try await fetch.text() == "one from memory")
        #expect(origin.conditions == [[], ["If-None-Match"]])
    }

    @Test func `an answer is handed out while its commit goes on`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10")))
        let shared = LeasingTier()
        shared.mayCommit.update { $0 = false }
        #expect(try await origin.fetch { $0.shared = shared }.text() == "one from network")
        #expect(shared.ends.update { $0 }.isEmpty)
        shared.mayCommit.update { $0 = true }
        try await shared.ends.wait { $0 == ["committed"] ? () : nil }
    }

    @Test func `advice reaches callers and the observer, and neither the shared tier nor what is remembered`() async throws {
        origin.answers(.failure(FetchError(kind: .refusedAddress, url: "http://a/", detail: "refused")))
        let shared = LeasingTier()
        let heard = Monitor<[String]>([])
        let fetch = origin.fetch {
            $0.shared = shared
            $0.policy.failures = .brief
            $0.observer = { event in if case .failed(let error, _) = event { heard.update { $0.append(error.detail) } } }
            $0.advised = { error in
                var error = error
                error.detail += ", allow it"
                return error
            }
        }
        for _ in 0..<2 {
            let error = await #expect(throws: FetchError.self) { try await fetch.text() }
            #expect(error?.detail == "refused, allow it")
        }
        #expect(origin.requests.count == 1)
        let told = heard.update { $0 }
        #expect(told == ["refused, allow it", "refused, allow it"])
        #expect(shared.ends.update { $0 } == ["failed: refused"])
    }

    @Test func `a 304 about something else is asked about again without conditions`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=1"), ("ETag", "\"1\"")), ScriptedOrigin.notModified(("ETag", "\"2\"")),
            ScriptedOrigin.ok("two", ("ETag", "\"2\"")))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        origin.passes(.seconds(2))
        #expect(try await fetch.text() == "two from network")
        #expect(origin.conditions == [[], ["If-None-Match"], []])
    }

    @Test func `stale-while-revalidate serves what is there and asks behind it, once`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=1, stale-while-revalidate=60")),
            ScriptedOrigin.ok("two", ("Cache-Control", "max-age=3600")))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        origin.passes(.seconds(2))
        origin.hold()
        for _ in 0..<5 { #expect(try await fetch.text() == "one from stale") }
        try await origin.asked(2)
        origin.release()
        try await eventually("the second answer is kept") { try await fetch.text() == "two from memory" }
        #expect(origin.requests.count == 2)
    }

    @Test func `a hot answer is fetched again before it is stale, by one caller that does not wait for it`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=100")), ScriptedOrigin.ok("two", ("Cache-Control", "max-age=100")))
        // The first fetch takes a second; a draw this high looks far ahead.
        let fetch = origin.fetch { $0.random = { 0.999999 } }
        origin.hold()
        let first = Task { try await fetch.text() }
        try await origin.asked(1)
        origin.passes(.seconds(1))
        origin.release()
        #expect(try await first.value == "one from network")
        origin.passes(.seconds(95))
        #expect(try await fetch.text() == "one from memory")
        try await eventually("the second answer is kept") { try await fetch.text() == "two from memory" }
        #expect(origin.requests.count == 2)
    }

    @Test func `stale-if-error stands in for an origin that fails, and only for so long`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=1, stale-if-error=60")), ScriptedOrigin.failure(.status(503)))
        let fetch = origin.fetch { $0.policy.failures = .brief }
        _ = try await fetch.text()
        origin.passes(.seconds(5))
        #expect(try await fetch.text() == "one from stale")
        // The failure is remembered, and does not hide what may be served.
        #expect(try await fetch.text() == "one from stale")
        #expect(origin.requests.count == 2)
        origin.passes(.seconds(60))
        await #expect(throws: FetchError.self) { try await fetch.text() }
    }

    @Test func `an origin that forbids it is never stood in for`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=1, stale-if-error=60, must-revalidate")), ScriptedOrigin.failure(.connect))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        origin.passes(.seconds(2))
        await #expect(throws: FetchError.self) { try await fetch.text() }
    }

    @Test func `an answer that may not be kept takes away the one before`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=1, stale-if-error=60")),
            ScriptedOrigin.ok("two", ("Cache-Control", "no-store")),
            ScriptedOrigin.failure(.connect))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        origin.passes(.seconds(2))
        #expect(try await fetch.text() == "two from network")
        await #expect(throws: FetchError.self) { try await fetch.text() }
    }

    @Test func `a refresh asks the origin again, and so does a limit on age if the kept answer is older`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=100")), ScriptedOrigin.ok("two", ("Cache-Control", "max-age=100")))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        #expect(try await fetch.text { $0.refresh = true } == "two from network")
        origin.passes(.seconds(10))
        #expect(try await fetch.text { $0.maximumAge = .seconds(20) } == "two from memory")
        #expect(try await fetch.text { $0.maximumAge = .seconds(5) } == "two from network")
    }

    @Test func `a failure is remembered for its time`() async throws {
        origin.answers(ScriptedOrigin.failure(.status(404)), ScriptedOrigin.ok("there"))
        let fetch = origin.fetch { $0.policy.failures = .brief }
        for _ in 0..<3 { await #expect(throws: FetchError.self) { try await fetch.text() } }
        #expect(origin.requests.count == 1)
        origin.passes(.seconds(301))
        #expect(try await fetch.text() == "there from network")
    }

    @Test func `by default an origin that fails is asked again, unless its answer gives a lifetime`() async throws {
        let lasting = ResponseHeaders([("Cache-Control", "max-age=10"), ("Set-Cookie", "a=b"), ("X-A", "1")])
        origin.answers(
            ScriptedOrigin.failure(.status(503)), ScriptedOrigin.failure(.status(403)),
            .failure(FetchError(kind: .status(404), url: "http://a/", headers: lasting)), ScriptedOrigin.ok("there"))
        let fetch = origin.fetch()
        for _ in 0..<3 { await #expect(throws: FetchError.self) { try await fetch.text() } }
        #expect(origin.requests.count == 3)
        origin.passes(.seconds(9))
        let error = await #expect(throws: FetchError.self) { try await fetch.text() }
        #expect(origin.requests.count == 3)
        #expect(error?.kind == .status(404) && error?.headers["age"] == "9" && error?.headers["x-a"] == "1")
        #expect(error?.headers["set-cookie"] == nil)
        origin.passes(.seconds(1))
        #expect(try await fetch.text() == "there from network")
    }

    @Test func `a kept answer has all headers and its age, from memory and after a 304`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=10"), ("ETag", "\"1\""), ("X-A", "1"), ("X-B", "1"), ("Set-Cookie", "c=d")),
            ScriptedOrigin.notModified(("ETag", "\"1\""), ("X-A", "2")))
        let fetch = origin.fetch()
        let network = try await fetch.serve(AnswerRequest("http://a/")).get()
        #expect(network.headers["age"] == nil && network.headers["set-cookie"] == "c=d")
        origin.passes(.seconds(4))
        let memory = try await fetch.serve(AnswerRequest("http://a/")).get()
        #expect(memory.source == .memory && memory.headers["age"] == "4" && memory.headers["date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(memory.headers["x-a"] == "1" && memory.headers["x-b"] == "1" && memory.headers["set-cookie"] == nil)
        origin.passes(.seconds(7))
        let confirmed = try await fetch.serve(AnswerRequest("http://a/")).get()
        #expect(confirmed.source == .revalidated && confirmed.headers["age"] == nil)
        #expect(confirmed.headers.values(of: "x-a") == ["2"] && confirmed.headers["x-b"] == "1")
        origin.passes(.seconds(3))
        let later = try await fetch.serve(AnswerRequest("http://a/")).get()
        #expect(later.source == .memory && later.headers["age"] == "3" && later.headers["x-a"] == "2")
    }

    @Test func `headers of the caller are part of the key`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=100"), ("Vary", "accept-language")))
        let fetch = origin.fetch()
        let german = try #require(HeaderField(name: "Accept-Language", value: "de"))
        let french = try #require(HeaderField(name: "accept-language", value: "fr"))
        _ = try await fetch.text { $0.headers = [german] }
        #expect(try await fetch.text { $0.headers = [german] } == "one from memory")
        #expect(try await fetch.text { $0.headers = [french] } == "one from network")
        #expect(try await fetch.text() == "one from network")
    }

    @Test func `a private answer is not kept`() async throws {
        origin.answers(ScriptedOrigin.ok("mine", ("Cache-Control", "max-age=100")))
        let fetch = origin.fetch()
        let key = try #require(HeaderField(name: "Authorization", value: "Bearer me"))
        for _ in 0..<2 { #expect(try await fetch.text { $0.headers = [key] } == "mine from network") }
    }

    @Test func `no more transfers run at a time than may, and the important come first`() async throws {
        origin.answers(ScriptedOrigin.ok("x"))
        let fetch = origin.fetch { $0.maximumInFlight = 1 }
        origin.hold()
        let first = Task { try await fetch.serve(AnswerRequest("http://a/first")).get() }
        try await origin.asked(1)
        let low = Task { try await fetch.serve(AnswerRequest("http://a/low") { $0.priority = .low }).get() }
        try await eventually("a transfer waits") { fetch.gates.all.waiting == 1 }
        let high = Task { try await fetch.serve(AnswerRequest("http://a/high") { $0.priority = .high }).get() }
        try await eventually("two transfers wait") { fetch.gates.all.waiting == 2 }
        #expect(origin.requests.count == 1)
        origin.release()
        for task in [first, low, high] { _ = try await task.value }
        #expect(origin.requests.map(\.url) == ["http://a/first", "http://a/high", "http://a/low"])
    }

    @Test func `a maximum age holds for remembered failures too`() async throws {
        origin.answers(ScriptedOrigin.failure(.status(404)), ScriptedOrigin.ok("there now"))
        let fetch = origin.fetch { $0.policy.failures = .brief }
        await #expect(throws: FetchError.self) { try await fetch.text() }
        origin.passes(.seconds(2))
        await #expect(throws: FetchError.self) { try await fetch.text { $0.maximumAge = .seconds(3) } }
        #expect(try await fetch.text { $0.maximumAge = .seconds(1) } == "there now from network")
    }

    @Test func `failures with long headers are remembered within bounds`() async throws {
        let headers = ResponseHeaders([(name: "X-Long", value: String(repeating: "x", count: 200_000))])
        origin.answers(.failure(FetchError(kind: .status(404), url: "http://a/", headers: headers)))
        let fetch = origin.fetch { $0.policy.failures = .brief }
        for number in 0..<100 { _ = await fetch.serve(AnswerRequest("http://a/\(number)")) }
        #expect((14 << 20...16 << 20).contains(fetch.failures.cost))
        _ = await fetch.serve(AnswerRequest("http://a/99"))
        #expect(origin.requests.count == 100)
    }

    @Test func `headers and URLs count towards the limit of what is kept in memory`() async throws {
        origin.answers(
            ScriptedOrigin.ok("", ("Cache-Control", "max-age=100"), ("Link", String(repeating: "x", count: 3000))))
        let fetch = origin.fetch()
        let path = String(repeating: "p", count: 5000)
        for number in 0..<20 { _ = await fetch.serve(AnswerRequest("http://a/\(path)\(number)")) }
        #expect(fetch.parts.memory.totalCost > 20 * 8000)
    }

    @Test func `an answer that took long does not take the place of one that was asked for after it`() async throws {
        origin.answers(ScriptedOrigin.ok("new", ("Cache-Control", "max-age=100")))
        let slow = ScriptedOrigin()
        slow.answers(ScriptedOrigin.ok("old", ("Cache-Control", "max-age=100")))
        slow.hold()
        let both = origin.fetch { $0.downloader = FirstElse(first: slow, others: origin) }
        let old = Task { try await both.text() }
        try await slow.asked(1)
        origin.passes(.seconds(1))
        #expect(try await both.text { $0.refresh = true } == "new from network")
        slow.release()
        #expect(try await old.value == "old from network")
        #expect(try await both.text() == "new from memory")
    }

    @Test func `the caller's own Cache-Control is obeyed`() async throws {
        origin.answers(ScriptedOrigin.ok("x", ("Cache-Control", "max-age=100")))
        let fetch = origin.fetch()
        let noCache = try #require(HeaderField(name: "Cache-Control", value: "no-cache"))
        let onlyIfCached = try #require(HeaderField(name: "Cache-Control", value: "only-if-cached"))
        for _ in 0..<2 { #expect(try await fetch.text { $0.headers = [noCache] } == "x from network") }
        let error = await #expect(throws: FetchError.self) { try await fetch.text { $0.headers = [onlyIfCached] } }
        #expect(error?.kind == .status(504))
        #expect(origin.requests.count == 2)
    }

    @Test func `a failure is not believed for longer because the clock is set back`() async throws {
        origin.answers(ScriptedOrigin.failure(.status(404)), ScriptedOrigin.ok("there now"))
        let fetch = origin.fetch { $0.policy.failures = .brief }
        await #expect(throws: FetchError.self) { try await fetch.text() }
        origin.passes(.seconds(-4))
        await #expect(throws: FetchError.self) { try await fetch.text() }
        origin.passes(.seconds(-3600))
        #expect(try await fetch.text() == "there now from network")
    }

    @Test func `after the clock was set back, a new answer replaces the kept one`() async throws {
        let headers = ("Cache-Control", "max-age=100")
        origin.answers(ScriptedOrigin.ok("one", headers), ScriptedOrigin.ok("two", headers), ScriptedOrigin.ok("three", headers))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        origin.passes(.seconds(-3600))
        #expect(try await fetch.text() == "two from network")
        #expect(try await fetch.text() == "two from memory")
    }

    @Test func `a closing fetcher waits once for a transfer that does not end`() async throws {
        let stubborn = StubbornOrigin()
        let (waits, isClosed) = (Monitor<[Duration]>([]), Monitor(false))
        let fetch = origin.fetch {
            $0.downloader = stubborn
            // The time of the first wait is over at once, and that of another one never.
            $0.sleep = { time in
                let isFirst = waits.update { waits in
                    defer { waits.append(time) }
                    return waits.isEmpty
                }
                if !isFirst { try await Task.sleep(for: .seconds(3600)) }
            }
        }
        let caller = Task { await fetch.serve(AnswerRequest("http://a/")) }
        try await stubborn.begun.wait { $0 ? () : nil }
        Task {
            await fetch.close()
            isClosed.update { $0 = true }
        }
        try await eventually("the fetcher is closed") { isClosed.update { $0 } }
        #expect(waits.update { $0 }.first == .seconds(3))
        let result = await caller.value
        #expect(throws: FetchError.self) { try result.get() }
        stubborn.mayEnd.update { $0 = true }
    }
}

/// An origin whose transfers go on when they are cancelled.
private struct StubbornOrigin: Downloader {
    let begun = Monitor(false)
    let mayEnd = Monitor(false)

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        begun.update { $0 = true }
        _ = await Task { try await mayEnd.wait { $0 ? () : nil } }.result
        throw FetchError(kind: .cancelled, url: request.url)
    }
}
