import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetFetch

/// A folder for a cache, and the changes that tests make to it.
struct DiskFixture: Sendable {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("cache")
    }

    func tier(limit: Int64 = 1 << 30, mostFiles: Int = 1_000_000) throws -> DiskTier {
        try DiskTier(path, limit: limit, mostFiles: mostFiles)
    }

    /// A user of the folder who has counted its files, and brought it down to its limit.
    func openTier(limit: Int64 = 1 << 30) throws -> DiskTier {
        let tier = try tier(limit: limit)
        try tier.tidy()
        return tier
    }

    static func key(_ number: Int) -> CacheKey { CacheKey(id: Array(SHA256Digest(of: "key \(number)".utf8).bytes.prefix(16))) }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededBytes(seed: seed)
        return random.next(count: count)
    }

    /// The paths of the records' files, or of those in `temporary`.
    func files(in part: String? = nil) -> [String] {
        let root = part.map { "\(path)/\($0)" } ?? path
        return FileManager.default.enumerator(atPath: root)?.compactMap { entry in
            guard let name = entry as? String, part != nil || !name.hasPrefix("temporary") else { return nil }
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isFolder), !isFolder.boolValue else { return nil }
            return "\(root)/\(name)"
        } ?? []
    }

    /// The path of a record's file.
    func file(of key: CacheKey) -> String { "\(path)/\(Self.place(of: key))" }

    /// The path of a record's file in its folder.
    static func place(of key: CacheKey) -> String {
        let name = EntryName(key)
        return "\(EntryName.folder(name.shard))/\(name.file)"
    }

    /// The one file there is.
    func onlyFile() throws -> String {
        let files = files()
        try #require(files.count == 1)
        return files[0]
    }

    /// The cost of all files together, by the documented rule.
    func cost() -> Int64 {
        files().reduce(0) { sum, file in
            // The file may have been removed meanwhile.
            var status = stat()
            guard lstat(file, &status) == 0 else { return sum }
            return sum + (Int64(status.st_size) + 4095) / 4096 * 4096 + 512
        }
    }

    /// Makes a file look as if it had last been used so long ago.
    static func age(_ file: String, by seconds: Int) throws {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let then = timespec(tv_sec: now.tv_sec - seconds, tv_nsec: 0)
        try #require(utimensat(AT_FDCWD, file, [then, then], 0) == 0)
    }

    /// How long ago a file was used.
    static func age(of file: String) throws -> Int {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_sec - Int(FileStatus(try status(of: file)).used / 1_000_000_000)
    }

    static func status(of file: String) throws -> stat {
        var status = stat()
        try #require(lstat(file, &status) == 0, "\(file): \(String(cString: strerror(errno)))")
        return status
    }

    static func overwrite(_ file: String, with bytes: [UInt8]) throws {
        let descriptor = open(file, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CREAT, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    }
}
