import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(2))) struct DamagedRecordTests {
    @Test func `a byte changed anywhere in a small record makes it a miss`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let record = (metadata: Array("text/plain".utf8), body: DiskFixture.bytes(100))
        try await tier.write(DiskFixture.key(1), metadata: record.metadata, body: record.body)
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        // Header, key, digest of the metadata, metadata, body.
        #expect(good.count == [64, 32, 44, 10, 100].reduce(0, +))
        for offset in good.indices {
            for flip in [1, 0x80, 0xff] as [UInt8] {
                var bad = good
                bad[offset] ^= flip
                try DiskFixture.overwrite(file, with: bad)
                #expect(await tier.read(DiskFixture.key(1)) == nil, "offset \(offset)")
                #expect(fixture.files() == [], "offset \(offset)")
            }
        }
        try DiskFixture.overwrite(file, with: good)
        #expect(await tier.read(DiskFixture.key(1))?.body == record.body)
    }

    @Test func `a record that was cut, or has bytes too many, is a miss`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try await tier.write(DiskFixture.key(1), metadata: [1, 2, 3], body: DiskFixture.bytes(50))
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        for bad in good.indices.map({ Array(good[..<$0]) }) + [good + [0], good + good, [UInt8](repeating: 0, count: good.count)] {
            try DiskFixture.overwrite(file, with: bad)
            #expect(await tier.read(DiskFixture.key(1)) == nil, "\(bad.count) bytes")
            #expect(fixture.files() == [])
        }
    }

    @Test func `lengths made up by a stranger lead nowhere`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try await tier.write(DiskFixture.key(1), metadata: [1, 2, 3], body: DiskFixture.bytes(50))
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        for (field, size) in [(12, 4), (16, 8), (24, 4), (28, 4), (64 + 32 + 8, 4)] {
            for value in [0, 1, 2, 1 << 31, .max, .max - 64, UInt64(good.count)] as [UInt64] {
                var bad = good
                withUnsafeBytes(of: value.littleEndian) { bad.replaceSubrange(field..<(field + size), with: $0.prefix(size)) }
                guard bad != good else { continue }
                try DiskFixture.overwrite(file, with: bad)
                #expect(await tier.read(DiskFixture.key(1)) == nil, "\(value) at \(field)")
            }
        }
    }

    @Test func `a large record with one changed byte is never read as a wrong one`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let body = DiskFixture.bytes(65_536)
        try await tier.write(DiskFixture.key(1), metadata: Array("first".utf8), body: body)
        #expect(try await tier.updateMetadata(DiskFixture.key(1), Array("second".utf8), ofBody: SHA256Digest(of: body)))
        let file = try fixture.onlyFile()
        let good = try contents(ofFile: file)
        let start = good.count - body.count
        var older = 0
        for offset in Array(0..<start) + [start, start + 1, start + 30_000, good.count - 1] {
            var bad = good
            bad[offset] ^= 0x10
            try DiskFixture.overwrite(file, with: bad)
            guard let record = await tier.read(DiskFixture.key(1)) else { continue }
            // The copy that counts is damaged, and the one before it is whole.
            #expect(record.body == body && offset >= 96 && offset < start, "offset \(offset)")
            #expect(["first", "second"].contains(String(decoding: record.metadata, as: UTF8.self)), "offset \(offset)")
            if record.metadata == Array("first".utf8) { older += 1 }
        }
        #expect(older == 44 + "second".utf8.count)
    }

    @Test func `a whole record under another's name is a miss`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try await tier.write(DiskFixture.key(1), metadata: [], body: [1])
        let record = try contents(ofFile: fixture.onlyFile())
        #expect(try await tier.remove(DiskFixture.key(1)))
        try await tier.write(DiskFixture.key(2), metadata: [], body: [2])
        try DiskFixture.overwrite(fixture.onlyFile(), with: record)
        #expect(await tier.read(DiskFixture.key(2)) == nil)
        #expect(tier.counts.damaged == 1)
    }

    @Test func `metadata of one record is not taken for another's`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        var records: [[UInt8]] = []
        for number in 1...2 {
            try await tier.write(
                DiskFixture.key(number), metadata: Array("about \(number)".utf8), body: DiskFixture.bytes(100, seed: UInt64(number)))
            let name = tier.name(of: DiskFixture.key(number))
            records.append(try contents(ofFile: "\(fixture.path)/\(name.folder)/\(name.file)"))
        }
        // A whole copy of the metadata, with its digest, in a file of the same lengths.
        let slot = 96..<(records[0].count - 100)
        var mixed = records[0]
        mixed.replaceSubrange(slot, with: records[1][slot])
        let name = tier.name(of: DiskFixture.key(1))
        try DiskFixture.overwrite("\(fixture.path)/\(name.folder)/\(name.file)", with: mixed)
        #expect(await tier.read(DiskFixture.key(1)) == nil)
        #expect(tier.counts.damaged == 1)
    }

    @Test func `the copies of the metadata cannot be exchanged`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let body = DiskFixture.bytes(70_000)
        try await tier.write(DiskFixture.key(1), metadata: [1], body: body)
        #expect(try await tier.updateMetadata(DiskFixture.key(1), [2], ofBody: SHA256Digest(of: body)))
        let file = try fixture.onlyFile()
        var record = try contents(ofFile: file)
        let length = (record.count - body.count - 96) / 2
        let first = Array(record[96..<(96 + length)])
        record.replaceSubrange(96..<(96 + length), with: record[(96 + length)..<(96 + 2 * length)])
        record.replaceSubrange((96 + length)..<(96 + 2 * length), with: first)
        try DiskFixture.overwrite(file, with: record)
        #expect(await tier.read(DiskFixture.key(1)) == nil)
    }
}
