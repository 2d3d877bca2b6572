import GannetBase
import GannetTestKit
import Testing

@testable import Results

@Suite(.timeLimit(.minutes(1))) struct ArchiveTests {
    @Test func `a place is an archive's name and an offset, and no body's file looks like one`() {
        let place = ArchivePlace(file: "gannet-20260131120000-00007.warc.gz", offset: 1234)
        #expect(place.text == "gannet-20260131120000-00007.warc.gz@1234" && ArchivePlace(place.text) == place)
        for text in [
            "", "a.warc.gz", "a.warc.gz@", "a.warc.gz@-1", "a.warc.gz@x", "a@1", "3fa/3fa94c-cat.jpg", "a.warc.gz@9999999999999999999",
        ] {
            #expect(ArchivePlace(text) == nil, "\(text)")
        }
        #expect(place.age ?? .zero > .seconds(86_400))
        #expect(ArchivePlace(file: "other.warc.gz", offset: 0).age == nil)
    }

    @Test func `a record is there where its archive has a member of gzip`() throws {
        let folder = try TemporaryFolder()
        try folder.write([0, 0x1f, 0x8b, 8], to: "a.warc.gz")
        #expect(ArchivePlace(file: "a.warc.gz", offset: 1).isThere(in: folder.path))
        for place in [ArchivePlace(file: "a.warc.gz", offset: 0), .init(file: "a.warc.gz", offset: 4), .init(file: "b.warc.gz", offset: 1)]
        {
            #expect(!place.isThere(in: folder.path), "\(place)")
        }
    }

    @Test func `callers that come during a flush share the next one`() async throws {
        let begun = Monitor(0)
        let gate = Condition(false)
        let flush = SharedFlush {
            begun.update { $0 += 1 }
            gate.wait { $0 ? () : nil }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await flush() }
            try await begun.wait { $0 == 1 ? () : nil }
            for _ in 0..<50 { group.addTask { try await flush() } }
            // Each of them comes while the first flush goes on.
            while await flush.waiting < 50 { await Task.yield() }
            gate.withLock { $0 = true }
            gate.wakeAll()
            try await group.waitForAll()
        }
        #expect(begun.update { $0 } == 2)
    }

    @Test func `the failure of a flush is that of all who wait for it`() async throws {
        struct Failure: Error {}
        let flush = SharedFlush { throw Failure() }
        for _ in 0..<3 { await #expect(throws: Failure.self) { try await flush() } }
    }
}
