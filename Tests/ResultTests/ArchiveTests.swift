import GannetBase
import GannetTestKit
import Testing

@testable import Results

@Suite(.timeLimit(.minutes(3))) struct ArchiveTests {
    @Test func `a place is an archive's name and an offset, or a shard's and a body's, and no body's file looks like one`() {
        let place = PackedPlace.record(file: "gannet-20260131120000-00007.warc.gz", offset: 1234)
        #expect(place.text == "gannet-20260131120000-00007.warc.gz@1234" && PackedPlace(place.text) == place)
        let sample = PackedPlace.sample(file: "00012.tar", name: "3fa9.jpg")
        #expect(sample.text == "00012.tar/3fa9.jpg" && PackedPlace(sample.text) == sample)
        for text in [
            "", "a.warc.gz", "a.warc.gz@", "a.warc.gz@-1", "a.warc.gz@x", "a@1", "3fa/3fa94c-cat.jpg", "a.warc.gz@9999999999999999999",
            "00012.tar", "00012.tar/", "x.tar/a.jpg", ".tar/a.jpg", "3fa/3fa94c-cat.tar", "00012.tar/a/b", "00012.tar.open/a",
        ] {
            #expect(PackedPlace(text) == nil, "\(text)")
        }
        #expect(place.age ?? .zero > .seconds(86_400))
        #expect(PackedPlace.record(file: "other.warc.gz", offset: 0).age == nil && sample.age == nil)
    }

    @Test func `a record is there where its archive has a member of gzip`() throws {
        let folder = try TemporaryFolder()
        try folder.write([0, 0x1f, 0x8b, 8], to: "a.warc.gz")
        #expect(PackedPlace.record(file: "a.warc.gz", offset: 1).isThere(in: folder.path))
        for (file, offset) in [("a.warc.gz", 0), ("a.warc.gz", 4), ("b.warc.gz", 1)] {
            #expect(!PackedPlace.record(file: file, offset: offset).isThere(in: folder.path), "\(file), \(offset)")
        }
    }

    @Test func `callers that come during a flush share the next one`() async throws {
        let begun = Monitor(0)
        let gate = Condition(false)
        let flush = Gathering.flushing {
            begun.update { $0 += 1 }
            gate.wait { $0 ? () : nil }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await flush(()) }
            try await begun.wait { $0 == 1 ? () : nil }
            for _ in 0..<50 { group.addTask { try await flush(()) } }
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
        let flush = Gathering.flushing { throw Failure() }
        for _ in 0..<3 { await #expect(throws: Failure.self) { try await flush(()) } }
    }
}
