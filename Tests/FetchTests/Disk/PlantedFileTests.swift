import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// Files and folders of others in the cache's folder.
@Suite(.timeLimit(.minutes(3))) struct PlantedFileTests {
    private let fixture: DiskFixture
    /// A folder outside of the cache, which must not change.
    private let outside: TemporaryFolder

    init() throws {
        fixture = try DiskFixture()
        outside = try TemporaryFolder()
        try outside.write([1, 2, 3], to: "file")
    }

    private func expectOutsideUntouched() throws {
        #expect(try outside.files.filter { $0 != "file" && $0 != "record" } == [])
        #expect(try contents(ofFile: outside.file("file")) == [1, 2, 3])
    }

    private func makeCache() throws -> DiskTier {
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        return tier
    }

    @Test(arguments: ["temporary", "shard"]) func `a folder that is a link to another is not entered`(part: String) throws {
        let tier = try makeCache()
        let name = EntryName(DiskFixture.key(1))
        let folder = "\(fixture.path)/\(part == "shard" ? EntryName.folder(name.shard) : part)"
        try FileManager.default.removeItem(atPath: folder)
        try #require(symlink(outside.path, folder) == 0)
        // Files that would be read, counted or removed if the link were followed.
        try outside.write([9], to: ".gannet-leftover")
        try outside.write([9], to: name.file)

        for tier in [tier, try fixture.tier()] {
            if part == "shard" { #expect(tier.read(DiskFixture.key(1)) == nil) }
            let failure = #expect(throws: StorageFailure.self) { try tier.write(DiskFixture.key(1), metadata: [], body: [2]) }
            guard case .system(let errno) = failure?.reason, [ENOTDIR, ELOOP].contains(errno) else {
                throw KitError("\(String(describing: failure))")
            }
            try tier.tidy()
            _ = try? tier.removeAll()
        }
        #expect(try contents(ofFile: outside.file(".gannet-leftover")) == [9] && contents(ofFile: outside.file(name.file)) == [9])
        #expect(try outside.files.count == 3)
    }

    @Test func `a file that is a link is not read, and is replaced by a write`() throws {
        let tier = try makeCache()
        for file in fixture.files() {
            // The link leads to the record itself.
            try outside.write(try contents(ofFile: file), to: "record")
            unlink(file)
            try #require(symlink(outside.file("record"), file) == 0)
        }
        #expect(tier.read(DiskFixture.key(1)) == nil)
        try tier.tidy()
        #expect(tier.usage.files == 0)
        try expectOutsideUntouched()

        try tier.write(DiskFixture.key(1), metadata: [], body: [2])
        #expect(tier.read(DiskFixture.key(1))?.body == [2])
        try expectOutsideUntouched()
    }

    @Test func `pipes and folders block no caller and are not removed`() throws {
        let tier = try makeCache()
        let path = fixture.file(of: DiskFixture.key(1))
        for kind in ["pipe", "folder"] {
            unlink(path)
            try #require((kind == "pipe" ? mkfifo(path, 0o600) : mkdir(path, 0o700)) == 0)
            #expect(tier.read(DiskFixture.key(1)) == nil)
            try tier.tidy()
            #expect(tier.usage.files == 0)
            #expect(try tier.remove(DiskFixture.key(1)) == false)
            try tier.removeAll()
            #expect(access(path, F_OK) == 0)
            if kind == "pipe" {
                try tier.write(DiskFixture.key(1), metadata: [], body: [2])
                #expect(tier.read(DiskFixture.key(1))?.body == [2])
            } else {
                #expect(throws: StorageFailure.self) { try tier.write(DiskFixture.key(1), metadata: [], body: [2]) }
            }
        }
    }

    @Test func `files made of holes are counted and removed, without an overflow`() throws {
        // The limit permits them all: a folder above its limit removes files as soon as it counts them.
        let tier = try fixture.tier(limit: 1 << 60)
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        let shard = "\(fixture.path)/\(EntryName.folder(EntryName(DiskFixture.key(1)).shard))"
        for number in 0..<20 as Range<UInt64> {
            let file = "\(shard)/\(SHA256Digest(of: DiskFixture.bytes(8, seed: number)).description.dropFirst(2)).record"
            try DiskFixture.overwrite(file, with: [])
            // As large as the file system permits.
            var size = off_t.max
            while size > 0, truncate(file, size) != 0 { size /= 2 }
            try #require(size > 0)
            try DiskFixture.age(file, by: 3600)
        }
        try tier.tidy()
        #expect(tier.usage.files == 21)
        #expect(tier.usage.bytes > 20 * 1 << 30)
        let small = try fixture.openTier(limit: 1 << 20)
        #expect(fixture.cost() < 1 << 20)
        #expect(small.read(DiskFixture.key(1))?.body == [1])
    }

    @Test func `files of others are neither counted nor removed`() throws {
        let tier = try makeCache()
        let shard = "\(fixture.path)/\(EntryName.folder(EntryName(DiskFixture.key(1)).shard))"
        let names = ["notes.txt", "AA.record", String(repeating: "g", count: 62) + ".record", "00.record", ".gannet-x"]
        for name in names { try DiskFixture.overwrite("\(shard)/\(name)", with: [1]) }
        try DiskFixture.overwrite("\(fixture.path)/temporary/notes.txt", with: [1])
        try tier.tidy()
        #expect(tier.usage.files == 1)
        try tier.removeAll()
        #expect(try fixture.openTier().usage.files == 0)
        for name in names { #expect(access("\(shard)/\(name)", F_OK) == 0) }
        #expect(fixture.files(in: "temporary").count == 1)
    }

    @Test func `a name that no entry can have is recognised`() {
        let good = String(repeating: "0a", count: 31)
        #expect(EntryName(file: good + ".record", shard: 1)?.file == good + ".record")
        for name in [good, good + "0.record", good + ".other", ".record", "", ".."] {
            #expect(EntryName(file: name, shard: 1) == nil, "\(name)")
        }
    }
}
