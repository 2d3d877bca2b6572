import GannetRedisClient
import Testing

@testable import GannetQueue

@Suite struct BlobStoreTests {
    @Test func `a body comes back as it was, also one of any bytes and one of none`() async throws {
        try await BlobFixture.with { fixture in
            let bodies: [[UInt8]] = [[], Array(0...255), BlobFixture.body(3, 1_000_000)]
            for (number, body) in bodies.enumerated() {
                let digest = BlobFixture.digest(number)
                #expect(try await fixture.store.put(digest: digest, bytes: body, limit: 1 << 30, sparing: .zero) == .stored)
                #expect(try await fixture.get(number) == body)
            }
            #expect(try await fixture.get(99) == nil)
            let usage = try await fixture.store.usage()
            #expect(usage.blobs == 3 && usage.bytes == 1_000_256 && usage.evicted == 0)
        }
    }

    @Test func `a put that is repeated after a lost reply changes nothing but the last use`() async throws {
        try await BlobFixture.with { fixture in
            #expect(try await fixture.put(1, 5000) == .stored)
            let usage = try await fixture.store.usage()
            #expect(try await fixture.put(1, 5000) == .present)
            #expect(try await fixture.store.usage() == usage)
        }
    }

    @Test func `a removed body is gone and counted no more`() async throws {
        try await BlobFixture.with { fixture in
            try await fixture.put(1, 5000)
            try await fixture.put(2, 0)
            #expect(try await fixture.store.remove(digest: BlobFixture.digest(2)))
            #expect(try await fixture.store.remove(digest: BlobFixture.digest(1)))
            #expect(try await !fixture.store.remove(digest: BlobFixture.digest(1)))
            #expect(try await fixture.get(1) == nil)
            let usage = try await fixture.store.usage()
            #expect(usage.blobs == 0 && usage.bytes == 0 && usage.memory == 0)
        }
    }

    @Test func `a body larger than the limit, or than any may be, is refused`() async throws {
        try await BlobFixture.with { fixture in
            let answers = [
                try await fixture.put(1, 10_000, limit: 10_000), try await fixture.put(2, BlobStore.largestBlob + 1, limit: 1 << 40),
            ]
            #expect(answers == [.tooLarge, .tooLarge])
            #expect(try await fixture.store.usage().blobs == 0)
        }
    }

    @Test func `a digest of another length is refused`() async throws {
        try await BlobFixture.with { fixture in
            await #expect(throws: StateError.invalid("A body's digest has 32 bytes.")) {
                try await fixture.store.get(digest: [1, 2, 3])
            }
        }
    }

    @Test func `a namespace's bodies are not another's`() async throws {
        try await BlobFixture.with { fixture in
            let other = BlobStore(ClusterState(fixture.redis, namespace: fixture.namespace + "x"))
            try await fixture.put(1, 10)
            #expect(try await other.get(digest: BlobFixture.digest(1)) == nil)
            #expect(try await other.usage().blobs == 0)
        }
    }
}
