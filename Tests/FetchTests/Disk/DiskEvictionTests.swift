import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(3))) struct DiskEvictionTests {
    /// 100 records, of which number 0 was used longest ago, in a folder where they count as 8704 bytes each.
    private static func filled(_ fixture: DiskFixture) throws {
        let tier = try fixture.tier()
        for number in 0..<100 {
            try tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(6000))
            try DiskFixture.age(fixture.file(of: DiskFixture.key(number)), by: 10_000 - number)
        }
    }

    private static func present(_ fixture: DiskFixture) -> [Int] {
        (0..<100).filter { access(fixture.file(of: DiskFixture.key($0)), F_OK) == 0 }
    }

    @Test func `the least recently used records go first, approximately`() throws {
        let fixture = try DiskFixture()
        try Self.filled(fixture)
        // A process that finds the folder full, and knows only the files that it has counted.
        let tier = try fixture.openTier(limit: 100 * 8704)
        for number in 1000..<1030 { try tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(6000)) }
        let present = Self.present(fixture)
        #expect(present.count == 70 && tier.counts.evictions == 30)
        // Each was one of the oldest eighth at least.
        #expect(present.filter { $0 >= 45 }.count == 55, "\(present)")
        #expect(fixture.cost() <= 100 * 8704)
    }

    @Test func `records that were read lately stay`() throws {
        let fixture = try DiskFixture()
        try Self.filled(fixture)
        let tier = try fixture.openTier(limit: 100 * 8704)
        // The first write fills the list of files to remove. Files that are read after that are still spared.
        try tier.write(DiskFixture.key(1000), metadata: [], body: DiskFixture.bytes(6000))
        let used = Self.present(fixture).prefix(10)
        for number in used { #expect(tier.read(DiskFixture.key(number)) != nil) }
        for number in 1001..<1050 { try tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(6000)) }
        #expect(Set(Self.present(fixture)).isSuperset(of: used))
        #expect(tier.counts.evictions == 50)
    }

    @Test func `the number of files is limited as well`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(mostFiles: 20)
        for number in 0..<100 { try tier.write(DiskFixture.key(number), metadata: [], body: []) }
        #expect(fixture.files().count == 20)
        #expect(tier.read(DiskFixture.key(99)) != nil)
    }

    @Test func `one large record replaces many small ones`() throws {
        let fixture = try DiskFixture()
        try Self.filled(fixture)
        let tier = try fixture.openTier(limit: 100 * 8704)
        try tier.write(DiskFixture.key(1000), metadata: [], body: DiskFixture.bytes(200_000))
        #expect(fixture.cost() <= 100 * 8704)
        #expect(tier.read(DiskFixture.key(1000))?.body.count == 200_000)
        #expect((70...80).contains(Self.present(fixture).count))
    }

    @Test func `a folder far above its limit is brought down to it when it is opened`() throws {
        let fixture = try DiskFixture()
        try Self.filled(fixture)
        let tier = try fixture.openTier(limit: 20 * 8704)
        #expect(fixture.cost() <= 20 * 8704 && tier.usage.isCounted)
        let present = Self.present(fixture)
        #expect((15...20).contains(present.count) && present.filter { $0 >= 60 }.count == present.count, "\(present)")
        try tier.write(DiskFixture.key(1000), metadata: [], body: DiskFixture.bytes(6000))
    }

    @Test func `removals by others are no reason to remove more`() throws {
        let fixture = try DiskFixture()
        try Self.filled(fixture)
        let tier = try fixture.openTier(limit: 100 * 8704)
        try fixture.tier().removeAll()
        for number in 0..<100 { try tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(6000)) }
        #expect(Self.present(fixture).count > 90)
    }
}
