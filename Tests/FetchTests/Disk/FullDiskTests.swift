import Foundation
import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(
    .timeLimit(.minutes(1)),
    .enabled(
        if: MachineNeed.isMet(MachineNeed.canMount),
        "Nothing can be mounted here, so no disk can be filled or made read-only. Run as root.")
)
struct FullDiskTests {
    private static func code(_ failure: StorageFailure?) -> Int32? {
        if case .system(let errno) = failure?.reason { errno } else { nil }
    }

    @Test func `on a full disk writes fail, then are not tried, and go on when there is room`() async throws {
        let disk = try MountedFolder(bytes: 1 << 20)
        disk.hide()
        let time = Condition(ContinuousClock.now)
        let tier = try DiskTier("\(disk.path)/cache", now: { time.withLock { $0 } })
        try await tier.write(DiskFixture.key(0), metadata: [], body: [1])
        #expect(try await tier.remove(DiskFixture.key(0)))
        let ballast = try disk.fill()

        // As a caller does that does not know whether the record is there.
        func keep(_ number: Int) async throws {
            let body = DiskFixture.bytes(10_000)
            if try await tier.updateMetadata(DiskFixture.key(number), [], ofBody: SHA256Digest(of: body)) { return }
            try await tier.write(DiskFixture.key(number), metadata: [], body: body)
        }
        for number in 0..<3 {
            let failure = await #expect(throws: StorageFailure.self) { try await keep(number) }
            #expect(Self.code(failure) == ENOSPC)
        }
        let before = tier.counts
        #expect(before.failedWrites == 3)
        for number in 0..<100 {
            let failure = await #expect(throws: StorageFailure.self) { try await keep(number) }
            guard failure?.reason == .paused(errno: ENOSPC) else { throw KitError("\(String(describing: failure))") }
        }
        #expect(tier.counts.failedWrites == 3 && tier.counts.pausedWrites == 100)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/cache/temporary") == [])

        unlink(ballast)
        time.withLock { $0 += .seconds(1) }
        try await keep(1)
        try await keep(1)
        #expect(await tier.read(DiskFixture.key(1))?.body == DiskFixture.bytes(10_000))
        #expect(tier.counts.failedWrites == 3 && tier.counts.writes == 3)
    }

    @Test func `on a disk that others fill, old records make room for new ones`() async throws {
        let disk = try MountedFolder(bytes: 2 << 20)
        disk.hide()
        let tier = try DiskTier("\(disk.path)/cache")
        for number in 0..<40 { try await tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(20_000)) }
        _ = try disk.fill()
        for number in 100..<200 {
            try await tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(20_000))
            #expect(await tier.read(DiskFixture.key(number))?.body == DiskFixture.bytes(20_000))
        }
        #expect(tier.counts.failedWrites == 0 && tier.counts.evictions >= 100)
    }

    @Test func `on a read-only disk reads go on and no record is lost`() async throws {
        let disk = try MountedFolder(bytes: 1 << 20)
        let tier = try DiskTier("\(disk.path)/cache")
        let body = DiskFixture.bytes(100_000)
        try await tier.write(DiskFixture.key(1), metadata: [1], body: body)
        let shard = "\(disk.path)/cache/\(EntryName(DiskFixture.key(1).bytes).folder)"
        let file = "\(shard)/\(try #require(try FileManager.default.contentsOfDirectory(atPath: shard).first))"
        try DiskFixture.age(file, by: 3600)
        try await tier.write(DiskFixture.key(2), metadata: [1], body: [7])
        let damaged = tier.name(of: DiskFixture.key(2))
        try DiskFixture.overwrite("\(disk.path)/cache/\(damaged.folder)/\(damaged.file)", with: [1, 2, 3])
        try disk.makeReadOnly()
        disk.hide()

        for tier in [tier, try DiskTier("\(disk.path)/cache")] {
            #expect(await tier.read(DiskFixture.key(1))?.body == body)
            #expect(await tier.read(DiskFixture.key(2)) == nil)
            for code in [
                await #expect(throws: StorageFailure.self) { try await tier.write(DiskFixture.key(3), metadata: [], body: []) },
                await #expect(throws: StorageFailure.self) {
                    try await tier.updateMetadata(DiskFixture.key(1), [2], ofBody: SHA256Digest(of: body))
                },
                await #expect(throws: StorageFailure.self) { try await tier.remove(DiskFixture.key(1)) },
                await #expect(throws: StorageFailure.self) { try await tier.removeAll() },
            ].map(Self.code) {
                #expect(code == EROFS)
            }
            #expect(await tier.read(DiskFixture.key(1))?.metadata == [1])
        }
        // The limit is far below the size of the folder, and nothing can be removed.
        var options = DiskTierOptions()
        options.limit = DiskTierOptions.smallestLimit
        let small = try DiskTier("\(disk.path)/cache", options)
        _ = await small.countedUsage()
        let failure = await #expect(throws: StorageFailure.self) { try await small.write(DiskFixture.key(3), metadata: [], body: []) }
        #expect(Self.code(failure) == EROFS)
    }
}

struct FullDiskCodeTests {
    @Test func `a quota that is used up is a full disk`() {
        let full = [ENOSPC, EDQUOT, EIO, EROFS, EACCES].map { StorageFailure(action: "write", path: "/f", errno: $0).isFullDisk }
        #expect(full == [true, true, false, false, false])
    }
}
