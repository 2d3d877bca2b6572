import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// The disk as a fetch sees it.
@Suite(.timeLimit(.minutes(5))) struct AnswerDiskTests {
    private let origin = ScriptedOrigin()

    @Test func `an answer that waits to be written to disk can be read, until it is removed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("cache")
        origin.answers(ScriptedOrigin.ok("x", ("Cache-Control", "max-age=100")))
        let fetch = origin.fetch {
            $0.memory = MemoryCache(MemoryCacheOptions(costLimit: 0, countLimit: 0))
            $0.disk = (try? DiskTier(path)).map { AnswerDisk($0) }
        }
        for number in 0..<50 {
            let request = AnswerRequest("http://a/\(number)")
            for _ in 0..<3 { #expect(try await fetch.serve(request).get().body == Array("x".utf8)) }
            #expect(origin.requests.count == 2 * number + 1)
            try await fetch.remove(request)
            _ = await fetch.serve(request)
            #expect(origin.requests.count == 2 * number + 2)
        }
        await fetch.close()
    }

    @Test func `no more waits to be written to a disk than is permitted`() async throws {
        let folder = try TemporaryFolder()
        let disk = AnswerDisk(try DiskTier(folder.file("cache")), mostWaiting: 1)
        origin.answers(ScriptedOrigin.ok("x", ("Cache-Control", "max-age=100")))
        let fetch = origin.fetch()
        _ = try await fetch.text()
        let answer = try #require(fetch.parts.memory.value(for: CheckedRequest(AnswerRequest("http://a/"), userAgent: nil).key))
        let keys = (0..<200).map { CacheKey(id: Array(repeating: UInt8($0), count: 16)) }
        for key in keys { disk.keep(answer, for: key) { false } }
        await disk.finish()
        var kept = 0
        for key in keys where await disk.answer(for: key) != nil { kept += 1 }
        #expect((1..<200).contains(kept))
    }

    @Test func `writes that do not end hold up no read`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("cache")
        origin.answers(ScriptedOrigin.ok("x", ("Cache-Control", "max-age=100")))
        let fetch = origin.fetch { $0.disk = (try? DiskTier(path)).map { AnswerDisk($0) } }
        _ = try await fetch.text()
        await fetch.parts.disk?.finish()
        fetch.parts.memory.removeAll()

        let gate = Gate()
        defer { gate.open() }
        let writes = (0..<10).map { _ in Task(executorPreference: AnswerDisk.writers) { gate.pass() } }
        try await gate.holds(3)
        #expect(try await fetch.text() == "x from disk")
        gate.open()
        for write in writes { await write.value }
        await fetch.close()
    }
}
