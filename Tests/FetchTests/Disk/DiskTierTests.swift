import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(3))) struct DiskTierTests {
    @Test(arguments: [0, 1, 4096, 65_535, 65_536, 3_000_001])
    func `a record that was written is read, also after the folder was opened again`(size: Int) throws {
        let fixture = try DiskFixture()
        let body = DiskFixture.bytes(size)
        let metadata = DiskFixture.bytes(size % 1000, seed: 2)
        let tier = try fixture.tier()
        #expect(tier.read(DiskFixture.key(1)) == nil)
        try tier.write(DiskFixture.key(1), metadata: metadata, body: body)

        for tier in [tier, try fixture.tier()] {
            let record = try #require(tier.read(DiskFixture.key(1)))
            #expect(record == DiskRecord(metadata: metadata, body: body))
            #expect(tier.read(DiskFixture.key(2)) == nil)
        }
        #expect(tier.counts.writes == 1 && tier.counts.damaged == 0)
    }

    @Test func `a record takes the place of the one before`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.openTier()
        for size in [10_000, 500_000, 7] {
            try tier.write(DiskFixture.key(1), metadata: [1], body: DiskFixture.bytes(size))
            #expect(tier.read(DiskFixture.key(1))?.body == DiskFixture.bytes(size))
            #expect(tier.usage == FolderUsage(bytes: fixture.cost(), files: 1, isCounted: true))
        }
        #expect(fixture.files().count == 1)
        #expect(fixture.files(in: "temporary") == [])
    }

    @Test func `a file with another name is replaced, not changed`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let body = DiskFixture.bytes(100_000)
        try tier.write(DiskFixture.key(1), metadata: [1], body: body)
        let other = fixture.folder.file("other")
        try #require(link(try fixture.onlyFile(), other) == 0)
        let before = try contents(ofFile: other)
        try tier.write(DiskFixture.key(1), metadata: [2], body: body)
        #expect(try contents(ofFile: other) == before)
        #expect(tier.read(DiskFixture.key(1))?.metadata == [2])
    }

    @Test func `a removed record is gone`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        for number in 0..<300 { try tier.write(DiskFixture.key(number), metadata: [], body: [1]) }
        #expect(try tier.remove(DiskFixture.key(7)))
        #expect(try tier.remove(DiskFixture.key(7)) == false)
        #expect(tier.read(DiskFixture.key(7)) == nil)
        try tier.tidy()
        #expect(tier.usage.files == 299)

        try DiskFixture.overwrite("\(fixture.path)/00/notes", with: [1])
        try tier.removeAll()
        #expect(tier.usage == FolderUsage(bytes: 0, files: 0, isCounted: true))
        try tier.tidy()
        #expect(tier.usage == FolderUsage(bytes: 0, files: 0, isCounted: true))
        #expect(try fixture.onlyFile().hasSuffix("/00/notes"))
    }

    @Test func `only the owner may look into folders and files`() throws {
        let fixture = try DiskFixture()
        try fixture.tier().write(DiskFixture.key(1), metadata: [], body: [1])
        let file = try fixture.onlyFile()
        for folder in [fixture.path, "\(fixture.path)/temporary", String(file[..<file.lastIndex(of: "/")!])] {
            #expect(try DiskFixture.status(of: folder).st_mode & 0o7777 == 0o700)
        }
        #expect(try DiskFixture.status(of: file).st_mode & 0o7777 == 0o600)
    }

    @Test func `a record that is too large is refused, and no other record is lost`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(limit: 1 << 20)
        try tier.write(DiskFixture.key(1), metadata: DiskFixture.bytes(65_536), body: [1])
        #expect(throws: StorageFailure(.tooLarge)) {
            try tier.write(DiskFixture.key(2), metadata: DiskFixture.bytes(65_537), body: [])
        }
        #expect(throws: StorageFailure(.tooLarge)) {
            try tier.write(DiskFixture.key(2), metadata: [], body: DiskFixture.bytes(1 << 18 + 1))
        }
        #expect(tier.read(DiskFixture.key(1)) != nil)
        #expect(tier.counts.evictions == 0)
    }

    @Test func `a use is noted, once a minute`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        let file = try fixture.onlyFile()
        for (age, expected) in [(50, 50...55), (70, 0...5), (-3600, 0...5)] {
            try DiskFixture.age(file, by: age)
            _ = tier.read(DiskFixture.key(1))
            #expect(expected.contains(try DiskFixture.age(of: file)), "\(age)")
        }
    }

    @Test func `a limit that makes no sense is refused`() throws {
        let fixture = try DiskFixture()
        for limit in [-1, 0, 65_535, 1 << 60 + 1, .max] as [Int64] {
            #expect(throws: InvalidOptions.self) { try fixture.tier(limit: limit) }
        }
        _ = try fixture.tier(limit: 65_536)
    }
}
