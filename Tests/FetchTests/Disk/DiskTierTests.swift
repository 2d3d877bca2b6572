import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(1))) struct DiskTierTests {
    @Test(arguments: [0, 1, 4096, 65_535, 65_536, 3_000_001])
    func `a record that was written is read, also after the folder was opened again`(size: Int) async throws {
        let fixture = try DiskFixture()
        let body = DiskFixture.bytes(size)
        let metadata = DiskFixture.bytes(size % 1000, seed: 2)
        let tier = try fixture.tier()
        #expect(await tier.read(DiskFixture.key(1)) == nil)
        try await tier.write(DiskFixture.key(1), metadata: metadata, body: body)

        for tier in [tier, try fixture.tier()] {
            let record = try #require(await tier.read(DiskFixture.key(1)))
            #expect(record == DiskRecord(metadata: metadata, body: body, bodyDigest: SHA256Digest(of: body)))
            #expect(await tier.read(DiskFixture.key(2)) == nil)
        }
        #expect(tier.counts.hits == 1 && tier.counts.misses == 2 && tier.counts.writes == 1 && tier.counts.damaged == 0)
    }

    @Test func `a record takes the place of the one before`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        _ = await tier.countedUsage()
        for size in [10_000, 500_000, 7] {
            try await tier.write(DiskFixture.key(1), metadata: [1], body: DiskFixture.bytes(size))
            #expect(await tier.read(DiskFixture.key(1))?.body == DiskFixture.bytes(size))
            #expect(tier.usage == FolderUsage(bytes: fixture.cost(), files: 1, isCounted: true))
        }
        #expect(fixture.files().count == 1)
        #expect(fixture.files(in: "temporary") == [])
    }

    @Test(arguments: [0, 200, 4000]) func `metadata changes and the body stays`(length: Int) async throws {
        let fixture = try DiskFixture()
        let metadata = DiskFixture.bytes(length)
        let tier = try fixture.tier()
        for size in [0, 100, 65_536, 1_000_000] {
            let body = DiskFixture.bytes(size)
            let digest = SHA256Digest(of: body)
            let key = DiskFixture.key(size)
            try await tier.write(key, metadata: [1, 2, 3], body: body)
            for round in 0..<3 as Range<UInt8> {
                #expect(try await tier.updateMetadata(key, metadata + [round], ofBody: digest))
                for tier in [tier, try fixture.tier()] {
                    #expect(await tier.read(key) == DiskRecord(metadata: metadata + [round], body: body, bodyDigest: digest))
                }
            }
        }
        _ = await tier.countedUsage()
        #expect(tier.usage.bytes == fixture.cost() && tier.usage.files == 4)
    }

    @Test func `a large body is not written again for new metadata that is about as long`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let body = DiskFixture.bytes(1_000_000)
        try await tier.write(DiskFixture.key(1), metadata: DiskFixture.bytes(300), body: body)
        let before = try DiskFixture.status(of: fixture.onlyFile()).st_ino
        for round in 0..<5 as Range<UInt64> {
            let metadata = DiskFixture.bytes(400, seed: round)
            #expect(try await tier.updateMetadata(DiskFixture.key(1), metadata, ofBody: SHA256Digest(of: body)))
            #expect(await tier.read(DiskFixture.key(1))?.metadata == metadata)
        }
        #expect(try DiskFixture.status(of: fixture.onlyFile()).st_ino == before)
    }

    @Test func `a file with another name is replaced, not changed`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let body = DiskFixture.bytes(100_000)
        try await tier.write(DiskFixture.key(1), metadata: [1], body: body)
        let other = fixture.folder.file("other")
        try #require(link(try fixture.onlyFile(), other) == 0)
        let before = try contents(ofFile: other)
        #expect(try await tier.updateMetadata(DiskFixture.key(1), [2], ofBody: SHA256Digest(of: body)))
        #expect(try contents(ofFile: other) == before)
        #expect(await tier.read(DiskFixture.key(1))?.metadata == [2])
    }

    @Test(arguments: [100, 100_000]) func `metadata is not given to a body it is not about`(size: Int) async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        let old = SHA256Digest(of: DiskFixture.bytes(size, seed: 1))
        #expect(try await tier.updateMetadata(DiskFixture.key(1), [2], ofBody: old) == false)
        try await tier.write(DiskFixture.key(1), metadata: [1], body: DiskFixture.bytes(size, seed: 2))
        #expect(try await tier.updateMetadata(DiskFixture.key(1), [2], ofBody: old) == false)
        #expect(await tier.read(DiskFixture.key(1))?.metadata == [1])
    }

    @Test func `a removed record is gone`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        for number in 0..<300 { try await tier.write(DiskFixture.key(number), metadata: [], body: [1]) }
        #expect(try await tier.remove(DiskFixture.key(7)))
        #expect(try await tier.remove(DiskFixture.key(7)) == false)
        #expect(await tier.read(DiskFixture.key(7)) == nil)
        #expect(await tier.countedUsage().files == 299)

        try DiskFixture.overwrite("\(fixture.path)/00/notes", with: [1])
        try await tier.removeAll()
        #expect(await tier.countedUsage() == FolderUsage(bytes: 0, files: 0, isCounted: true))
        #expect(try fixture.onlyFile().hasSuffix("/00/notes"))
    }

    @Test func `only the owner may look into folders and files`() async throws {
        let fixture = try DiskFixture()
        try await fixture.tier().write(DiskFixture.key(1), metadata: [], body: [1])
        let file = try fixture.onlyFile()
        for folder in [fixture.path, "\(fixture.path)/temporary", String(file[..<file.lastIndex(of: "/")!])] {
            #expect(try DiskFixture.status(of: folder).st_mode & 0o7777 == 0o700)
        }
        #expect(try DiskFixture.status(of: file).st_mode & 0o7777 == 0o600)
    }

    @Test func `a record that is too large is refused, and no other record is lost`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier(limit: 1 << 20) { $0.maximumMetadata = 10 }
        try await tier.write(DiskFixture.key(1), metadata: DiskFixture.bytes(10), body: [1])
        await #expect(throws: StorageFailure(.tooLarge)) {
            try await tier.write(DiskFixture.key(2), metadata: DiskFixture.bytes(11), body: [])
        }
        await #expect(throws: StorageFailure(.tooLarge)) {
            try await tier.write(DiskFixture.key(2), metadata: [], body: DiskFixture.bytes(1 << 18))
        }
        #expect(await tier.read(DiskFixture.key(1)) != nil)
        #expect(tier.counts.evictions == 0)
    }

    @Test func `a use is noted, once a minute`() async throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try await tier.write(DiskFixture.key(1), metadata: [], body: [1])
        let file = try fixture.onlyFile()
        for (age, expected) in [(50, 50...55), (70, 0...5), (-3600, 0...5)] {
            try DiskFixture.age(file, by: age)
            _ = await tier.read(DiskFixture.key(1))
            #expect(expected.contains(try DiskFixture.age(of: file)), "\(age)")
        }
    }

    @Test func `a key has 16 to 64 bytes`() {
        #expect([0, 15, 16, 64, 65].map { DiskKey([UInt8](repeating: 1, count: $0)) != nil } == [false, false, true, true, false])
    }

    @Test func `options that make no sense are refused`() throws {
        let changes: [(inout DiskTierOptions) -> Void] = [
            { $0.limit = 1000 }, { $0.limit = .max }, { $0.maximumFiles = 0 }, { $0.maximumFile = 0 },
            { $0.maximumFile = .max },
            { $0.threads = 0 }, { $0.threads = 65 }, { $0.maximumWaitingReads = 0 },
            { $0.maximumWaitingWrites = 0 }, { $0.maximumWaitingBytes = 0 }, { $0.longestPause = .zero },
            { $0.useInterval = .seconds(-1) }, { $0.leftoverAge = .seconds(-1) }, { $0.maximumMetadata = -1 },
        ]
        let fixture = try DiskFixture()
        for change in changes {
            #expect(throws: InvalidOptions.self) { try fixture.tier(change) }
        }
        _ = try fixture.tier()
    }
}
