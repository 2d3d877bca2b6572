import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(3))) struct RemovedFolderTests {
    private static func code(_ failure: StorageFailure?) -> Int32? {
        if case .system(let errno) = failure?.reason { errno } else { nil }
    }

    @Test func `a folder that is removed in use is made again`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        for round in 0..<3 {
            try tier.write(DiskFixture.key(1), metadata: [], body: [UInt8(round)])
            #expect(tier.read(DiskFixture.key(1))?.body == [UInt8(round)])
            try FileManager.default.removeItem(atPath: fixture.path)
            #expect(tier.read(DiskFixture.key(1)) == nil)
        }
        #expect(tier.counts.failedWrites == 0 && tier.counts.failedReads == 0)
    }

    @Test func `parts of a folder that are removed are made again`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        for part in ["temporary", EntryName.folder(EntryName(DiskFixture.key(1)).shard)] {
            try tier.write(DiskFixture.key(1), metadata: [], body: [1])
            try FileManager.default.removeItem(atPath: "\(fixture.path)/\(part)")
            try tier.write(DiskFixture.key(1), metadata: [], body: [2])
            #expect(tier.read(DiskFixture.key(1))?.body == [2])
        }
    }

    @Test func `a folder that another process makes in place of a removed one is found`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        try FileManager.default.removeItem(atPath: fixture.path)
        let other = try fixture.tier()
        try other.write(DiskFixture.key(1), metadata: [], body: [2])
        #expect(tier.read(DiskFixture.key(1))?.body == [2])
    }

    @Test func `a file in place of the folder is a miss, and a write fails with the cause`() throws {
        let fixture = try DiskFixture()
        let tier = try fixture.tier()
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        try FileManager.default.removeItem(atPath: fixture.path)
        try DiskFixture.overwrite(fixture.path, with: [1, 2, 3])
        for tier in [tier, try fixture.tier()] {
            #expect(tier.read(DiskFixture.key(1)) == nil)
            let failure = #expect(throws: StorageFailure.self) { try tier.write(DiskFixture.key(1), metadata: [], body: [1]) }
            #expect(Self.code(failure) == ENOTDIR)
            #expect(failure?.description.contains(fixture.path) == true)
        }
        #expect(try contents(ofFile: fixture.path) == [1, 2, 3])
        unlink(fixture.path)
        try tier.write(DiskFixture.key(1), metadata: [], body: [3])
        #expect(tier.read(DiskFixture.key(1))?.body == [3])
    }

    @Test func `a write to a folder that cannot be made fails with the cause`() throws {
        let tier = try DiskTier("/proc/gannet/cache")
        #expect(tier.read(DiskFixture.key(1)) == nil)
        let failure = #expect(throws: StorageFailure.self) { try tier.write(DiskFixture.key(1), metadata: [], body: [1]) }
        #expect(Self.code(failure) != nil)
    }

    @Test func `missing parents are made, and a symbolic link among them is followed`() throws {
        let fixture = try DiskFixture()
        let target = fixture.folder.file("elsewhere")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try #require(symlink(target, fixture.folder.file("link")) == 0)
        let tier = try DiskTier("\(fixture.folder.file("link"))/a/b/c/")
        try tier.write(DiskFixture.key(1), metadata: [], body: [1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(target)/a/b/c").contains("temporary"))
    }

    @Test("Without permission reads find nothing, and writes fail with the cause")
    func permission() async throws {
        try await inOwnProcess {
            let fixture = try DiskFixture()
            let tier = try fixture.tier()
            try tier.write(DiskFixture.key(1), metadata: [], body: [1])
            if getuid() == 0 {
                // Nothing is closed to root: from here on the process is nobody.
                try #require(seteuid(65_534) == 0)
            } else {
                try #require(chmod(fixture.path, 0) == 0)
            }
            for tier in [tier, try fixture.tier()] {
                #expect(tier.read(DiskFixture.key(1)) == nil)
                let failure = #expect(throws: StorageFailure.self) {
                    try tier.write(DiskFixture.key(1), metadata: [], body: [])
                }
                #expect(Self.code(failure) == EACCES)
            }
            if getuid() == 0 { try #require(seteuid(0) == 0) } else { try #require(chmod(fixture.path, 0o700) == 0) }
            #expect(tier.read(DiskFixture.key(1))?.body == [1])
        }
    }

    /// Takes every descriptor that is free.
    private static func allDescriptors() -> [Int32] {
        var taken: [Int32] = []
        while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
        return taken
    }

    @Test("Without descriptors reads find nothing, writes fail with the cause, and no file is taken for damaged")
    func descriptors() async throws {
        try await inOwnProcess {
            let fixture = try DiskFixture()
            let tier = try fixture.tier()
            try tier.write(DiskFixture.key(1), metadata: [], body: [1])
            var limit = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            for spare in 0..<5 {
                var record: DiskRecord?
                var failure: StorageFailure?
                // A thread of the runtime may hold a descriptor and let go of it during the round, which then proves nothing.
                var isProven = false
                while !isProven {
                    var few = limit
                    few.rlim_cur = 64
                    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few) == 0)
                    var held = Self.allDescriptors()
                    for descriptor in held.suffix(spare) { close(descriptor) }
                    held.removeLast(spare)
                    record = tier.read(DiskFixture.key(1))
                    failure = nil
                    do {
                        try tier.write(DiskFixture.key(2), metadata: [], body: [2])
                    } catch {
                        failure = error as? StorageFailure
                    }
                    let free = Self.allDescriptors()
                    isProven = free.count <= spare
                    for descriptor in held + free { close(descriptor) }
                    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                }
                #expect(record == nil || record?.body == [1])
                if spare < 3 { #expect(failure != nil) }
                if spare == 0 { #expect(record == nil) }
            }
            #expect(tier.counts.damaged == 0)
            #expect(tier.read(DiskFixture.key(1))?.body == [1])
            #expect(fixture.files(in: "temporary") == [])
        }
    }
}
