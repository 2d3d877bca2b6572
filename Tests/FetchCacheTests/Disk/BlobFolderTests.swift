import Foundation
import GannetTestKit
import HTTPEngine
import Testing

@testable import FetchCache

@Suite(.timeLimit(.minutes(1))) struct BlobFolderTests {
    @Test(arguments: [0, 1, 5000, 2_500_000]) func `what is put is there, also for others`(size: Int) async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        let bytes = DiskFixture.bytes(size)
        let digest = SHA256Digest(of: bytes)
        #expect(await blobs.contains(digest) == false)
        #expect(await blobs.get(digest) == nil)
        #expect(try await blobs.put(bytes) == digest)
        for blobs in [blobs, try fixture.blobs()] {
            #expect(await blobs.contains(digest))
            #expect(await blobs.get(digest) == bytes)
        }
        let hex = digest.description
        #expect(try fixture.onlyFile() == "\(fixture.path)/\(hex.prefix(2))/\(hex.dropFirst(2))")

        #expect(try await blobs.remove(digest))
        #expect(try await blobs.remove(digest) == false)
        #expect(await blobs.contains(digest) == false)
    }

    @Test func `bytes that are there are not written again, and count as used`() async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        try await blobs.put([1, 2, 3])
        let file = try fixture.onlyFile()
        let number = try DiskFixture.status(of: file).st_ino
        for use in 0..<2 {
            try DiskFixture.age(file, by: 3600)
            if use == 0 { try await blobs.put([1, 2, 3]) } else { #expect(await blobs.contains(SHA256Digest(of: [1, 2, 3]))) }
            #expect(try DiskFixture.age(of: file) < 60)
        }
        #expect(try DiskFixture.status(of: file).st_ino == number)
        // One that was cut is not what was put.
        try DiskFixture.overwrite(file, with: [1, 2])
        try await blobs.put([1, 2, 3])
        #expect(await blobs.get(SHA256Digest(of: [1, 2, 3])) == [1, 2, 3])
    }

    @Test func `a file is moved in, with the cache's permissions`() async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        let bytes = DiskFixture.bytes(100_000)
        let source = try fixture.folder.write(bytes, to: "body")
        try #require(chmod(source, 0o644) == 0)
        try DiskFixture.age(source, by: 3600)
        let number = try DiskFixture.status(of: source).st_ino
        try await blobs.put(contentsOf: source, digest: SHA256Digest(of: bytes))
        #expect(await blobs.get(SHA256Digest(of: bytes)) == bytes)
        let file = try DiskFixture.status(of: fixture.onlyFile())
        #expect(file.st_ino == number && file.st_mode & 0o7777 == 0o600)
        #expect(try DiskFixture.age(of: fixture.onlyFile()) < 60)
        #expect(try fixture.folder.files == ["cache"])
        #expect(await blobs.countedUsage() == FolderUsage(bytes: fixture.cost(), files: 1, isCounted: true))
    }

    @Test(.enabled(if: MachineNeed.isMet(DiskFixture.otherFileSystem != nil), "SKIPPED: there is no second file system to write to."))
    func `a file of another file system is copied, checked and removed`() async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        let bytes = DiskFixture.bytes(2_500_000)
        let other = try #require(DiskFixture.otherFileSystem)
        let source = "\(other)/gannet-test-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(source) }
        try DiskFixture.overwrite(source, with: bytes)
        await #expect(throws: StoreFailure.wrongDigest) { try await blobs.put(contentsOf: source, digest: SHA256Digest(of: [])) }
        #expect(fixture.files() == [] && fixture.files(in: "temporary") == [])
        try await blobs.put(contentsOf: source, digest: SHA256Digest(of: bytes))
        #expect(await blobs.get(SHA256Digest(of: bytes)) == bytes)
        #expect(access(source, F_OK) != 0)
    }

    @Test func `what is no file cannot be taken over, and is no reason to stop writing`() async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        let digest = SHA256Digest(of: [])
        let outside = try fixture.folder.write([1], to: "outside")
        try #require(symlink(outside, fixture.folder.file("link")) == 0)
        try #require(mkfifo(fixture.folder.file("pipe"), 0o600) == 0)
        for name in ["missing", "link", "pipe", "cache", "missing"] {
            let failure = await #expect(throws: StoreFailure.self) {
                try await blobs.put(contentsOf: fixture.folder.file(name), digest: digest)
            }
            guard case .source = failure else {
                Issue.record("\(name): \(String(describing: failure))")
                continue
            }
        }
        try await blobs.put([1])
    }

    @Test func `a file that is moved in under a wrong digest is never read`() async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        let digest = SHA256Digest(of: [1])
        try await blobs.put(contentsOf: try fixture.folder.write([2], to: "body"), digest: digest)
        #expect(await blobs.get(digest) == nil)
        #expect(await blobs.contains(digest) == false)
    }

    @Test func `a blob is given as a file of the caller's`() async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        let bytes = DiskFixture.bytes(2_500_000)
        let digest = try await blobs.put(bytes)
        let path = try #require(try await blobs.get(digest, asFileIn: fixture.folder.path))
        #expect(try contents(ofFile: path) == bytes)
        #expect(try await blobs.get(SHA256Digest(of: []), asFileIn: fixture.folder.path) == nil)
        let failure = await #expect(throws: StoreFailure.self) { try await blobs.get(digest, asFileIn: "/nonexistent") }
        guard case .system(let cause) = failure else { throw KitError("\(String(describing: failure))") }
        #expect(cause.errno == ENOENT)
        #expect(await blobs.contains(digest))
    }

    @Test func `blobs and records may share a folder`() async throws {
        let fixture = try DiskFixture()
        let blobs = try fixture.blobs()
        let tier = try fixture.tier()
        let digest = try await blobs.put([1, 2, 3])
        let key = try #require(DiskKey(digest.bytes))
        try await tier.write(key, metadata: [], body: [4])
        #expect(await blobs.get(digest) == [1, 2, 3])
        #expect(await tier.read(key)?.body == [4])
        try await tier.removeAll()
        #expect(await blobs.countedUsage().files == 1)
        #expect(await tier.countedUsage().files == 0)
    }
}
