import GannetRedisClient
import GannetTestKit
import Testing

@testable import GannetQueue

@Suite struct BlobEvictionTests {
    private static let limit = 4_000_000

    @Test func `Redis' memory stays within the limit while thousands of bodies pass`() async throws {
        try await BlobFixture.withServer { fixture, _ in
            let seed = UInt64.random(in: .min ... .max)
            var random = SeededBytes(seed: seed)
            let limit = 16_000_000
            let empty = try await fixture.usedMemory()
            for number in 0..<5500 {
                let size = Int.random(in: 0..<(number % 5 == 0 ? 40_000 : 600), using: &random)
                #expect(try await fixture.put(number, size, limit: limit) == .stored, "seed \(seed)")
                if number % 100 == 99 {
                    let used = try await fixture.usedMemory() - empty
                    #expect(used < limit * 21 / 20, "seed \(seed)")
                }
            }
            let usage = try await fixture.store.usage()
            let used = try await fixture.usedMemory() - empty
            #expect(usage.memory <= limit && usage.memory > limit * 8 / 10)
            // The counter is about what Redis needs. The other figure also holds the buffers of the connection.
            #expect(abs(used - usage.memory) < limit / 20, "\(used) is used where \(usage.memory) is counted, seed \(seed)")
            #expect(usage.evicted == 5500 - usage.blobs)
        }
    }

    @Test func `the body that was not used for longest goes first`() async throws {
        try await BlobFixture.withClock { fixture, clock in
            for number in 0..<3 {
                try await fixture.put(number, 1_000_000, limit: Self.limit)
                clock.advance(by: .seconds(120))
            }
            #expect(try await fixture.get(0) != nil)
            clock.advance(by: .seconds(120))
            try await fixture.put(3, 1_000_000, limit: Self.limit)
            #expect(try await fixture.get(1) == nil)
            for number in [0, 2, 3] { #expect(try await fixture.get(number) != nil) }
            #expect(try await fixture.store.usage().evicted == 1)
        }
    }

    @Test func `a body that is read all the time costs no writes, and a use after a minute is noted`() async throws {
        try await BlobFixture.withClock { fixture, clock in
            try await fixture.put(1, 100)
            let changes = try await fixture.changes()
            for _ in 0..<50 { _ = try await fixture.get(1) }
            #expect(try await fixture.changes() == changes)
            clock.advance(by: .seconds(61))
            _ = try await fixture.get(1)
            #expect(try await fixture.changes() > changes)
        }
    }

    @Test func `recently used bodies are spared: the store grows a quarter above its limit, and then refuses`() async throws {
        try await BlobFixture.withClock { fixture, clock in
            var answers: [BlobPutAnswer] = []
            for number in 0..<6 { answers.append(try await fixture.put(number, 1_000_000, limit: Self.limit, sparing: BlobStore.spared)) }
            #expect(answers == [.stored, .stored, .stored, .stored, .full, .full])
            let usage = try await fixture.store.usage()
            #expect(usage.blobs == 4 && usage.evicted == 0 && usage.memory > Self.limit && usage.memory <= Self.limit * 5 / 4)
            clock.advance(by: BlobStore.spared + .milliseconds(1))
            #expect(try await fixture.put(5, 1_000_000, limit: Self.limit, sparing: BlobStore.spared) == .stored)
            #expect(try await fixture.get(5) != nil)
            #expect(try await fixture.store.usage().memory <= Self.limit)
        }
    }

    @Test func `a clock that was set back spares nothing for ever`() async throws {
        try await BlobFixture.withClock { fixture, clock in
            for number in 0..<3 { try await fixture.put(number, 1_000_000, limit: Self.limit) }
            clock.advance(by: .seconds(-86_400))
            try await fixture.put(9, 1)
            clock.advance(by: .seconds(60))
            for number in 3..<6 { #expect(try await fixture.put(number, 1_000_000, limit: Self.limit, sparing: .seconds(30)) == .stored) }
            #expect(try await fixture.get(0) == nil)
        }
    }

    @Test func `a limit that was lowered is reached in one put, however many bodies have to go`() async throws {
        try await BlobFixture.with { fixture in
            for number in 0..<1500 { try await fixture.put(number, 1000) }
            #expect(try await fixture.put(9999, 1000, limit: 100_000) == .stored)
            let usage = try await fixture.store.usage()
            #expect(usage.memory <= 100_000)
            #expect(usage.evicted + usage.blobs == 1501)
            #expect(try await fixture.get(9999) != nil)
        }
    }
}
