import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(1))) struct AbandonedWriteTests {
    @Test func `a write whose caller leaves does not leave half a file`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier { $0.threads = 1 }
        let body = DiskFixture.bytes(30_000_000)
        for round in 0..<6 {
            let hasEnded = Monitor(false)
            let writing = Task {
                defer { hasEnded.update { $0 = true } }
                try await tier.write(DiskFixture.key(round), metadata: [], body: body)
            }
            if round >= 2 {
                // In the middle of the write, unless it is done by then.
                try await eventually("the write begins") { !fixture.files(in: "temporary").isEmpty || hasEnded.update { $0 } }
            }
            writing.cancel()
            _ = await writing.result
            // There is one thread, so the abandoned write is over when the next one is done.
            try await tier.write(DiskFixture.key(-1), metadata: [], body: [1])
            #expect(fixture.files(in: "temporary") == [])
        }
        for round in 0..<6 {
            let record = await tier.read(DiskFixture.key(round))
            #expect(record == nil || record?.body == body)
        }
        #expect(tier.counts.damaged == 0)
    }

    @Test func `a read whose caller is cancelled finds no record, and removes none`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier { $0.threads = 1 }
        let body = DiskFixture.bytes(30_000_000)
        try await tier.write(DiskFixture.key(1), metadata: [], body: body)
        for _ in 0..<20 {
            let reading = Task { await tier.read(DiskFixture.key(1)) }
            await Task.yield()
            reading.cancel()
            let record = await reading.value
            #expect(record == nil || record?.body == body)
        }
        #expect(await tier.read(DiskFixture.key(1))?.body == body)
        #expect(tier.counts.damaged == 0)
    }

    @Test func `writes are dropped when too many wait`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier {
            $0.threads = 1
            $0.maximumWaitingWrites = 1
        }
        let body = DiskFixture.bytes(3_000_000)
        let written = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    do {
                        try await tier.write(DiskFixture.key(number), metadata: [], body: body)
                        return true
                    } catch {
                        #expect(error as? StorageFailure == StorageFailure(.crowded))
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(written < 50 && tier.counts.writes == written && tier.counts.droppedWrites == 50 - written)
        #expect(fixture.files().count == written)
    }
}
