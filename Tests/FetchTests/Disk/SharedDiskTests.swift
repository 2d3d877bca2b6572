import Foundation
import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// A folder that several processes use.
@Suite(.timeLimit(.minutes(2))) struct SharedDiskTests {
    @Test func `a writer killed at any moment leaves no half record`() async throws {
        let fixture = try DiskFixture()
        let seed = UInt64.random(in: 0 ... .max)
        var halves = 0
        for round in 0..<8 {
            let writer = try await DiskWriterProcess(["records", fixture.path, "2000000000", "250", "6000000", "\(seed)"], until: "began")
            // In mid-write, as far as one can tell from outside, after some records that are whole.
            // A writer that is almost done is killed all the same: on a busy machine all looks may miss its temporary files.
            try await eventually("the writer begins a record") {
                let count = fixture.files().count
                return count >= round && !fixture.files(in: "temporary").isEmpty || count >= 200
            }
            try await writer.kill9()
            halves += fixture.files(in: "temporary").count

            // The next user of the folder removes the file of the dead writer.
            let tier = try fixture.openTier(limit: 2_000_000_000)
            #expect(fixture.files(in: "temporary") == [])
            for file in fixture.files() {
                let name = file.split(separator: "/").suffix(2).joined().dropLast(".record".utf8.count)
                let key = CacheKey(id: try #require([UInt8](hexadecimal: name.utf8)))
                #expect(tier.read(key) != nil, "seed \(seed), \(file)")
            }
            #expect(tier.counts.damaged == 0 && tier.counts.failedReads == 0, "seed \(seed)")
            try tier.removeAll()
        }
        #expect(halves > 0, "seed \(seed): no kill came in time to show anything")
    }

    @Test func `the file of a dead writer is removed, that of a living one is not`() async throws {
        let fixture = try DiskFixture()
        let temporary = "\(fixture.path)/temporary"
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let other = try await DiskWriterProcess(["half", temporary], until: "half")
        let own = try BodyFile(lockedIn: OpenFolder(temporary))
        let living = fixture.files(in: "temporary").sorted()
        #expect(living.count == 2)
        for number in 0..<5 { try DiskFixture.overwrite("\(temporary)/.gannet-dead\(number)", with: [1]) }

        #expect(try fixture.openTier().counts.leftovers == 5)
        #expect(fixture.files(in: "temporary").sorted() == living)
        try await other.kill9()
        #expect(try fixture.openTier().counts.leftovers == 1)
        #expect(fixture.files(in: "temporary") == [own.path])

        // The living writer finishes its file.
        let shard = try OpenFolder("00", in: OpenFolder(fixture.path), creating: true)
        try own.move(to: shard, as: "moved")
        #expect(access("\(fixture.path)/00/moved", F_OK) == 0)
    }

    @Test func `processes that share a folder stay near the limit together`() async throws {
        let fixture = try DiskFixture()
        let limit: Int64 = 8_000_000
        let seed = UInt64.random(in: 0 ... .max)
        let writers = try await withThrowingTaskGroup(of: DiskWriterProcess.self) { group in
            for number in 0..<2 as Range<UInt64> {
                group.addTask {
                    try await DiskWriterProcess(
                        ["records", fixture.path, "\(limit)", "2500", "10000", "\(seed &+ number)"], until: "began")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var highest: Int64 = 0
        try await eventually("the writers have ended", within: .seconds(120)) {
            highest = max(highest, fixture.cost())
            return !writers.contains { $0.process.isRunning }
        }
        for writer in writers { try await writer.finish() }
        // Five times the limit was written.
        let last = fixture.cost()
        #expect(max(highest, last) < limit * 115 / 100 && last > limit * 85 / 100, "seed \(seed)")
        let usage = try fixture.openTier().usage
        #expect(usage.bytes == last && usage.files == fixture.files().count)
    }

    @Test(arguments: [1, 10]) func `users that fill a folder stay near the limit, and old files go first`(count: Int) throws {
        let fixture = try DiskFixture()
        let limit: Int64 = 6_000_000
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededBytes(seed: seed)
        // They know as little of each other as processes do.
        let tiers = try (0..<count).map { _ in try fixture.openTier(limit: limit) }
        var highest: Int64 = 0
        func write(_ numbers: Range<Int>) throws {
            for number in numbers {
                // A few are very large.
                let size = random.next() % 100 == 0 ? 80_000 : 8000
                try tiers[Int(random.next() % UInt64(count))].write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(size))
                if number.isMultiple(of: 20) { highest = max(highest, fixture.cost()) }
            }
        }
        try write(0..<1500)
        #expect(highest > limit * 9 / 10 && highest < limit * (count == 1 ? 100 : 120) / 100 + 1, "seed \(seed)")
        highest = 0
        try write(1500..<2000)
        #expect(highest > limit * 9 / 10 && highest < limit * (count == 1 ? 100 : 110) / 100 + 1, "seed \(seed)")
        // The files that are left are the last ones, nearly without a gap.
        let present = (0..<2000).filter { access(fixture.file(of: DiskFixture.key($0)), F_OK) == 0 }
        #expect(try #require(present.first) > 2000 - present.count * 12 / 10, "seed \(seed)")
    }

    @Test func `of two that write and remove the same records, each reads what one of them wrote`() async throws {
        let fixture = try DiskFixture()
        let tiers = [try fixture.tier(limit: 3_000_000), try fixture.tier(limit: 3_000_000)]
        let seed = UInt64.random(in: 0 ... .max)
        // Metadata begins with the number that its body was made of, so that a mix-up shows.
        func body(_ number: UInt64) -> [UInt8] { DiskFixture.bytes(number.isMultiple(of: 2) ? 70_000 : 3000, seed: number) }
        func metadata(_ number: UInt64, _ update: Int) -> [UInt8] { Array("\(number) \(update)".utf8) }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<8 as Range<UInt64> {
                group.addTask {
                    var random = SeededBytes(seed: seed &+ lane)
                    let tier = tiers[Int(lane % 2)]
                    var found = 0
                    for step in 0..<100 {
                        let key = DiskFixture.key(Int(random.next() % 4))
                        let number = random.next() % 6
                        switch random.next() % 10 {
                        case 0...3:
                            guard let record = tier.read(key) else { continue }
                            found += 1
                            let words = String(decoding: record.metadata, as: UTF8.self).split(separator: " ")
                            let written = try #require(words.first.flatMap { UInt64($0) })
                            #expect(record.body == body(written), "seed \(seed)")
                        case 4...8: try tier.write(key, metadata: metadata(number, step), body: body(number))
                        default: try tier.remove(key)
                        }
                    }
                    return found
                }
            }
            let found = try await group.reduce(0, +)
            #expect(found > 0)
        }
        #expect(tiers.allSatisfy { $0.counts.damaged == 0 && $0.counts.failedReads == 0 && $0.counts.failedWrites == 0 }, "seed \(seed)")
        #expect(fixture.files(in: "temporary") == [])
    }
}
