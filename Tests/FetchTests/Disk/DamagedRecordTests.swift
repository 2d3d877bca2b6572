import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(2))) struct DamagedRecordTests {
    @Test func `a byte changed anywhere in a small record makes it a miss`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let record = (metadata: Array("text/plain".utf8), body: DiskFixture.bytes(100))
        try tier.write(DiskFixture.key(1), metadata: record.metadata, body: record.body)
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        // Magic, length of the metadata, digest, metadata, body.
        #expect(good.count == [8, 4, 32, 10, 100].reduce(0, +))
        for offset in good.indices {
            for flip in [1, 0x80, 0xff] as [UInt8] {
                var bad = good
                bad[offset] ^= flip
                try DiskFixture.overwrite(file, with: bad)
                #expect(tier.read(DiskFixture.key(1)) == nil, "offset \(offset)")
                #expect(fixture.files() == [], "offset \(offset)")
            }
        }
        try DiskFixture.overwrite(file, with: good)
        #expect(tier.read(DiskFixture.key(1))?.body == record.body)
    }

    @Test func `a record that was cut, or has bytes too many, is a miss`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [1, 2, 3], body: DiskFixture.bytes(50))
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        for bad in good.indices.map({ Array(good[..<$0]) }) + [good + [0], good + good, [UInt8](repeating: 0, count: good.count)] {
            try DiskFixture.overwrite(file, with: bad)
            #expect(tier.read(DiskFixture.key(1)) == nil, "\(bad.count) bytes")
            #expect(fixture.files() == [])
        }
    }

    @Test func `lengths made up by a stranger lead nowhere`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [1, 2, 3], body: DiskFixture.bytes(50))
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        for value in [0, 1, 2, 53, 54, 1 << 31, .max, .max - 64, UInt32(good.count)] as [UInt32] {
            var bad = good
            withUnsafeBytes(of: value.littleEndian) { bad.replaceSubrange(8..<12, with: $0) }
            try DiskFixture.overwrite(file, with: bad)
            #expect(tier.read(DiskFixture.key(1)) == nil, "\(value)")
        }
    }

    @Test func `a large record with one changed byte is a miss`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let body = DiskFixture.bytes(200_000)
        try tier.write(DiskFixture.key(1), metadata: Array("text".utf8), body: body)
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        let start = good.count - body.count
        for offset in Array(0..<start) + [start, start + 1, start + 65_536, start + 70_000, good.count - 1] {
            var bad = good
            bad[offset] ^= 0x10
            try DiskFixture.overwrite(file, with: bad)
            #expect(tier.read(DiskFixture.key(1)) == nil, "offset \(offset)")
        }
    }

    @Test func `a record of another format is a miss, and is removed`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        let file = try fixture.onlyFile()
        try DiskFixture.overwrite(file, with: Array("gannet\r\n".utf8) + [1, 0, 0, 0] + DiskFixture.bytes(100))
        #expect(tier.read(DiskFixture.key(1)) == nil)
        #expect(fixture.files() == [] && tier.counts.damaged == 1)
    }

    @Test func `a whole record under another's name is a miss`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        let record = try contents(ofFile: fixture.onlyFile())
        #expect(try tier.remove(DiskFixture.key(1)))
        try tier.write(DiskFixture.key(2), metadata: [], body: [2])
        try DiskFixture.overwrite(fixture.onlyFile(), with: record)
        #expect(tier.read(DiskFixture.key(2)) == nil)
        #expect(tier.counts.damaged == 1)
    }

    @Test func `metadata of one record is not taken for another's`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        var records: [[UInt8]] = []
        for number in 1...2 {
            try tier.write(
                DiskFixture.key(number), metadata: Array("about \(number)".utf8), body: DiskFixture.bytes(100, seed: UInt64(number)))
            records.append(try contents(ofFile: fixture.file(of: DiskFixture.key(number))))
        }
        // All of the metadata, with the digest, in a file of the same lengths.
        let slot = 8..<(records[0].count - 100)
        var mixed = records[0]
        mixed.replaceSubrange(slot, with: records[1][slot])
        try DiskFixture.overwrite(fixture.file(of: DiskFixture.key(1)), with: mixed)
        #expect(tier.read(DiskFixture.key(1)) == nil)
        #expect(tier.counts.damaged == 1)
    }
}
