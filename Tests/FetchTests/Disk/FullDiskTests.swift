import Foundation
import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

@Suite(
    .timeLimit(.minutes(3)),
    .enabled(
        if: MachineNeed.isMet(MachineNeed.canMount),
        "Nothing can be mounted here, so no disk can be filled or made read-only. Run as root.")
)
struct FullDiskTests {
    private static func code(_ failure: StorageFailure?) -> Int32? {
        if case .system(let errno) = failure?.reason { errno } else { nil }
    }

    @Test func `on a full disk writes fail, then are not tried, and go on when there is room`() throws {
        let disk = try MountedFolder(bytes: 1 << 20)
        disk.hide()
        let time = Condition(ContinuousClock.now)
        let tier = try DiskTier("\(disk.path)/cache", now: { time.withLock { $0 } })
        try tier.write(DiskFixture.key(0), metadata: [], body: [1])
        #expect(try tier.remove(DiskFixture.key(0)))
        let ballast = try disk.fill()

        func keep(_ number: Int) throws { try tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(10_000)) }
        for number in 0..<3 {
            let failure = #expect(throws: StorageFailure.self) { try keep(number) }
            #expect(Self.code(failure) == ENOSPC)
        }
        let before = tier.counts
        #expect(before.failedWrites == 3)
        for number in 0..<100 {
            let failure = #expect(throws: StorageFailure.self) { try keep(number) }
            guard failure?.reason == .paused(errno: ENOSPC) else { throw KitError("\(String(describing: failure))") }
        }
        #expect(tier.counts.failedWrites == 3 && tier.counts.pausedWrites == 100)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/cache/temporary") == [])

        unlink(ballast)
        time.withLock { $0 += .seconds(1) }
        try keep(1)
        try keep(1)
        #expect(tier.read(DiskFixture.key(1))?.body == DiskFixture.bytes(10_000))
        #expect(tier.counts.failedWrites == 3 && tier.counts.writes == 3)
    }

    @Test func `on a disk that others fill, old records make room for new ones`() throws {
        let disk = try MountedFolder(bytes: 2 << 20)
        disk.hide()
        let tier = try DiskTier("\(disk.path)/cache")
        for number in 0..<40 { try tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(20_000)) }
        _ = try disk.fill()
        for number in 100..<200 {
            try tier.write(DiskFixture.key(number), metadata: [], body: DiskFixture.bytes(20_000))
            #expect(tier.read(DiskFixture.key(number))?.body == DiskFixture.bytes(20_000))
        }
        #expect(tier.counts.failedWrites == 0 && tier.counts.evictions >= 100)
    }

    @Test func `on a read-only disk reads go on and no record is lost`() throws {
        let disk = try MountedFolder(bytes: 1 << 20)
        let tier = try DiskTier("\(disk.path)/cache")
        let body = DiskFixture.bytes(100_000)
        try tier.write(DiskFixture.key(1), metadata: [1], body: body)
        try DiskFixture.age("\(disk.path)/cache/\(DiskFixture.place(of: DiskFixture.key(1)))", by: 3600)
        try tier.write(DiskFixture.key(2), metadata: [1], body: [7])
        try DiskFixture.overwrite("\(disk.path)/cache/\(DiskFixture.place(of: DiskFixture.key(2)))", with: [1, 2, 3])
        try disk.makeReadOnly()
        disk.hide()

        for tier in [tier, try DiskTier("\(disk.path)/cache")] {
            #expect(tier.read(DiskFixture.key(1))?.body == body)
            #expect(tier.read(DiskFixture.key(2)) == nil)
            for code in [
                #expect(throws: StorageFailure.self) { try tier.write(DiskFixture.key(3), metadata: [], body: []) },
                #expect(throws: StorageFailure.self) { try tier.remove(DiskFixture.key(1)) },
                #expect(throws: StorageFailure.self) { try tier.removeAll() },
            ].map(Self.code) {
                #expect(code == EROFS)
            }
            #expect(tier.read(DiskFixture.key(1))?.metadata == [1])
        }
        // The limit is far below the size of the folder, and nothing can be removed.
        let small = try DiskTier("\(disk.path)/cache", limit: DiskTier.smallestLimit)
        let tidying = #expect(throws: StorageFailure.self) { try small.tidy() }
        #expect(Self.code(tidying) == EROFS)
        let failure = #expect(throws: StorageFailure.self) { try small.write(DiskFixture.key(3), metadata: [], body: []) }
        #expect(Self.code(failure) == EROFS)
    }
}

/// A disk that refuses to write, without one that is full: a file is where the folder should be.
struct RefusedWriteTests {
    private let fixture: DiskFixture
    private let time = Condition(ContinuousClock.now)
    private let tier: DiskTier

    init() throws {
        fixture = try DiskFixture()
        try DiskFixture.overwrite(fixture.path, with: [])
        tier = try DiskTier(fixture.path, now: { [time] in time.withLock { $0 } })
    }

    private func passes(_ duration: Duration) { time.withLock { $0 += duration } }

    /// Whether the system was asked to write.
    private func isTried() throws -> Bool {
        let failure = #expect(throws: StorageFailure.self) { try tier.write(DiskFixture.key(1), metadata: [], body: []) }
        switch try #require(failure).reason {
        case .system(ENOTDIR): return true
        case .paused(ENOTDIR): return false
        default: throw KitError("\(String(describing: failure))")
        }
    }

    @Test func `after three failures in a row nothing is tried for a second, then for two, up to a minute`() throws {
        for _ in 0..<3 { #expect(try isTried()) }
        for length in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(try !isTried())
            passes(.seconds(length) - .milliseconds(1))
            #expect(try !isTried(), "\(length)")
            passes(.milliseconds(1))
            // One attempt is enough.
            #expect(try isTried(), "\(length)")
        }
    }

    @Test func `a success ends the pause`() throws {
        for _ in 0..<3 { #expect(try isTried()) }
        unlink(fixture.path)
        passes(.seconds(1))
        for number in 0..<10 { try tier.write(DiskFixture.key(number), metadata: [], body: []) }
        try FileManager.default.removeItem(atPath: fixture.path)
        try DiskFixture.overwrite(fixture.path, with: [])
        for _ in 0..<3 { #expect(try isTried()) }
        #expect(try !isTried())
    }
}

struct FullDiskCodeTests {
    @Test func `a quota that is used up is a full disk`() {
        let full = [ENOSPC, EDQUOT, EIO, EROFS, EACCES].map { StorageFailure(action: "write", path: "/f", errno: $0).isFullDisk }
        #expect(full == [true, true, false, false, false])
    }
}
