internal import GannetBase
internal import GannetHTTP

/// The bytes of a body, and where they are. A file must not change until the call that was given it has returned.
package enum ArchiveContent: Sendable {
    case bytes([UInt8])
    /// The first `count` bytes of a file.
    case file(path: String, count: Int)

    var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, let count): count
        }
    }

    private static let piece = 128 << 10

    /// Hands over all bytes in order, a piece at a time, or throws.
    func read(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .bytes(let bytes): try bytes.withUnsafeBytes { if !$0.isEmpty { try take($0) } }
        case .file(let path, let count):
            let file = try OpenedFile(path, O_RDONLY)
            try withUnsafeTemporaryAllocation(byteCount: max(1, min(Self.piece, count)), alignment: 16) { buffer in
                var done = 0
                while done < count {
                    let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, count - done)])
                    guard let found = Descriptor.read(into: wanted, from: file.descriptor, at: done) else {
                        throw StorageFailure.ofArchive("read", path)
                    }
                    done += found
                    guard found == wanted.count else {
                        throw StorageFailure("A body should have \(count) bytes, and \(done) could be read.")
                    }
                    try take(UnsafeRawBufferPointer(wanted))
                }
            }
        }
    }
}

/// A descriptor that is closed with the last reference to it, so a flush may go on beside the end of its file.
final class OpenedFile: Sendable {
    let descriptor: Int32
    let path: String

    /// Symbolic links are refused: their target may lie outside the folder.
    init(_ path: String, _ flags: Int32) throws {
        self.path = path
        // Opening a pipe would wait for its other end. Only regular files are read and written.
        descriptor = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StorageFailure.ofArchive(flags & O_CREAT == 0 ? "opened" : "made", path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var size: Int {
        get throws {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw StorageFailure.ofArchive("read", path) }
            guard status.isFile else {
                throw StorageFailure.foreign(path, "is not a regular file. Move it elsewhere.")
            }
            return Int(status.st_size)
        }
    }

    /// False when another process holds it. The lock ends with the descriptor, so also with the process.
    func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    func write(_ bytes: [UInt8], at offset: Int) throws {
        guard Descriptor.write(bytes, to: descriptor, at: offset) else { throw StorageFailure.ofArchive("written", path) }
    }

    func truncate(to size: Int) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw StorageFailure.ofArchive("cut", path) }
    }

    func sync() throws {
        guard fsync(descriptor) == 0 else { throw StorageFailure.ofArchive("flushed to its disk", path) }
    }
}

/// The calls on the folder of archives or shards.
enum ArchiveFolder {
    /// The ending of the name of a file that is being written, or that a killed process has left.
    static let open = ".open"

    /// The names in a folder, sorted.
    static func names(in folder: String) throws -> [String] {
        guard let names = BodyFolder.names(in: folder) else { throw StorageFailure.ofArchive("read", folder) }
        return names.sorted()
    }

    /// Makes names that were given and removed durable.
    static func sync(_ folder: String) throws {
        // The user may name the folder by a link to it.
        let opened = try OpenedFile(folder + "/.", O_RDONLY | O_DIRECTORY)
        try opened.sync()
    }

    static func rename(_ path: String, to other: String) throws {
        guard replace(path, other) == 0 else { throw StorageFailure.ofArchive("renamed", path) }
    }

    static func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageFailure.ofArchive("removed", path) }
    }

    /// The part of a name, or nil.
    static func middle(of name: String, from prefix: String, to suffix: String) -> Substring? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.utf8.count >= prefix.utf8.count + suffix.utf8.count else { return nil }
        return name.dropFirst(prefix.count).dropLast(suffix.count)
    }

    /// The number of an archive or a shard, with five digits at least.
    static func digits(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 5 - text.utf8.count)) + text
    }
}

// Inside the type its own function hides that of C.
private func replace(_ path: String, _ other: String) -> Int32 { rename(path, other) }

extension StorageFailure {
    /// `The file "out/a.tar" could not be read: Permission denied.`
    static func ofArchive(_ participle: String, _ path: String, _ code: Int32 = lastSystemError) -> StorageFailure {
        let sentence = "The file \(path.debugDescription) could not be \(participle): \(Descriptor.message(code))."
        return StorageFailure(.other(sentence, errno: code))
    }

    /// A file in the folder is not as archives and shards are left.
    static func foreign(_ path: String, _ predicate: String) -> StorageFailure {
        StorageFailure("The file \(path.debugDescription) \(predicate)")
    }
}
