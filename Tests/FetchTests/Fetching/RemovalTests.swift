import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// Removals before, during and after a fetch.
struct RemovalTests {
    private let origin = ScriptedOrigin()

    /// The text of a fetch during whose request, the first or a later one, its answer is removed.
    private func textRemovedDuring(_ fetch: CachingFetch, request: Int = 1) async throws -> String {
        origin.hold()
        let waiting = Task { try await fetch.text() }
        try await origin.asked(request)
        try await fetch.remove(AnswerRequest("http://a/"))
        origin.release()
        return try await waiting.value
    }

    private func disk(_ path: String) -> AnswerDisk? { (try? DiskTier(path)).map { AnswerDisk($0) } }

    @Test func `a failure does not bring back an answer that was removed during the fetch`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=1, stale-if-error=60")), ScriptedOrigin.failure(.status(503)))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        origin.passes(.seconds(2))
        #expect(try await textRemovedDuring(fetch, request: 2) == "one from stale")
        await #expect(throws: FetchError.self) { try await fetch.text() }
    }

    @Test func `an answer that the disk failed to remove is not served`() async throws {
        let folder = try TemporaryFolder()
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=100")), ScriptedOrigin.ok("two", ("Cache-Control", "max-age=100")))
        let path = folder.file("cache")
        let writer = origin.fetch { $0.disk = disk(path) }
        _ = try await writer.text()
        await writer.close()
        let fetch = origin.fetch { $0.disk = disk(path) }
        // As if its file had not been found yet: the note alone is taken.
        fetch.removals.note(try CheckedRequest(AnswerRequest("http://a/"), userAgent: nil).key, at: fetch.parts.now())
        origin.passes(.milliseconds(1))
        #expect(try await fetch.text() == "two from network")
    }

    @Test func `an answer that is removed during its fetch is not shared`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=100")))
        let shared = LeasingTier()
        let fetch = origin.fetch { $0.shared = shared }
        #expect(try await textRemovedDuring(fetch) == "one from network")
        #expect(shared.ends.update { $0 } == ["nothing to share"])
        origin.passes(.milliseconds(1))
        _ = try await fetch.text()
        #expect(shared.ends.update { $0 } == ["nothing to share", "committed"])
    }

    @Test func `an answer from the shared tier is kept in memory again after a clear`() async throws {
        origin.answers(ScriptedOrigin.ok("one", ("Cache-Control", "max-age=100")))
        let shared = LeasingTier()
        _ = try await origin.fetch { $0.shared = shared }.text()
        let fetch = origin.fetch { $0.shared = shared }
        await fetch.removeAll()
        origin.passes(.milliseconds(1))
        #expect(try await fetch.text() == "one from shared")
        #expect(try await fetch.text() == "one from memory")
    }

    @Test func `a caller after a removal does not get an answer that was requested before it`() async throws {
        origin.answers(ScriptedOrigin.ok("new", ("Cache-Control", "max-age=100")))
        let slow = ScriptedOrigin()
        slow.answers(ScriptedOrigin.ok("old", ("Cache-Control", "max-age=100")))
        slow.hold()
        let both = origin.fetch { $0.downloader = FirstElse(first: slow, others: origin) }
        let old = Task { try await both.text() }
        try await slow.asked(1)
        try await both.remove(AnswerRequest("http://a/"))
        origin.passes(.milliseconds(1))
        #expect(try await both.text() == "new from network")
        slow.release()
        #expect(try await old.value == "old from network")
        #expect(try await both.text() == "new from memory")
    }

    @Test func `an answer that is removed during its fetch goes to its callers and is not kept`() async throws {
        origin.answers(
            ScriptedOrigin.ok("one", ("Cache-Control", "max-age=100")), ScriptedOrigin.ok("two", ("Cache-Control", "max-age=100")))
        let fetch = origin.fetch()
        #expect(try await textRemovedDuring(fetch) == "one from network")
        origin.passes(.milliseconds(1))
        #expect(try await fetch.text() == "two from network")
        #expect(try await fetch.text() == "two from memory")
    }

    @Test func `a failure that was asked for before a removal is not remembered`() async throws {
        origin.answers(ScriptedOrigin.failure(.status(404)), ScriptedOrigin.ok("there now"))
        let fetch = origin.fetch()
        await #expect(throws: FetchError.self) { try await textRemovedDuring(fetch) }
        #expect(try await fetch.text() == "there now from network")
    }

    @Test func `after a clear things are kept again, although the clock is set back`() async throws {
        let folder = try TemporaryFolder()
        origin.answers(ScriptedOrigin.ok("x", ("Cache-Control", "max-age=100")))
        let path = folder.file("cache")
        let fetch = origin.fetch { $0.disk = disk(path) }
        try await fetch.remove(AnswerRequest("http://a/"))
        await fetch.removeAll()
        origin.passes(.seconds(-3600))
        #expect(try await fetch.text() == "x from network")
        #expect(try await fetch.text() == "x from memory")
        fetch.parts.memory.removeAll()
        #expect(try await fetch.text() == "x from disk")
        await fetch.close()
    }

    @Test func `fetches under way count as removed when there are too many removals to remember`() throws {
        let removals = Removals()
        let mark = removals.mark
        let key = try CheckedRequest(AnswerRequest("http://a/"), userAgent: nil).key
        removals.note(key, at: .now)
        for number in 0..<20_000 { removals.note(CacheKey(id: Array("\(number)".utf8)), at: .now) }
        #expect(removals.concernAlone(key, since: mark))
        #expect(!removals.concernAlone(key, since: removals.mark))
    }
}
