internal import GannetBase

/// A descriptor that is closed with the last reference to it, so a flush may go on beside the end of its file.
final class OpenedFile: Sendable {
    let descriptor: Int32
    let path: String

    /// Symbolic links are refused: their target may lie outside the folder.
    init(_ path: String, _ flags: Int32) throws {
        self.path = path
        // Opening a pipe would wait for its other end. Only regular files are read and written.
        descriptor = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw ArchiveError.refused(flags & O_CREAT == 0 ? "opened" : "made", path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var size: Int {
        get throws {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw ArchiveError.refused("read", path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw ArchiveError.foreign(path: path, "is not a regular file. Move it elsewhere.")
            }
            return Int(status.st_size)
        }
    }

    /// False when another process holds it. The lock ends with the descriptor, so also with the process.
    func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    func write(_ bytes: [UInt8], at offset: Int) throws {
        guard Descriptor.write(bytes, to: descriptor, at: offset) else { throw ArchiveError.refused("written", path) }
    }

    func truncate(to size: Int) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw ArchiveError.refused("cut", path) }
    }

    func sync() throws {
        guard fsync(descriptor) == 0 else { throw ArchiveError.refused("flushed to its disk", path) }
    }
}

/// The calls on an archive's folder.
enum ArchiveFolder {
    /// The names in a folder, sorted.
    static func names(in folder: String) throws -> [String] {
        guard let stream = opendir(folder) else { throw ArchiveError.refused("read", folder) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names.sorted()
    }

    /// Makes names that were given and removed durable.
    static func sync(_ folder: String) throws {
        // The user may name the folder by a link to it.
        let opened = try OpenedFile(folder + "/.", O_RDONLY | O_DIRECTORY)
        try opened.sync()
    }

    static func rename(_ path: String, to other: String) throws {
        guard replace(path, other) == 0 else { throw ArchiveError.refused("renamed", path) }
    }

    static func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw ArchiveError.refused("removed", path) }
    }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The part of a name, or nil.
    static func middle(of name: String, from prefix: String, to suffix: String) -> Substring? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.utf8.count >= prefix.utf8.count + suffix.utf8.count else { return nil }
        return name.dropFirst(prefix.count).dropLast(suffix.count)
    }
}

// Inside the type its own function hides that of C.
private func replace(_ path: String, _ other: String) -> Int32 { rename(path, other) }
