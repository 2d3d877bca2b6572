internal import GannetBase
internal import GannetHTTP

/// The file of a journal: a heading, and lines that are only appended. The folder's lock ensures that it has one writer.
package final class JournalFile: LineSource {
    let path: String
    private let descriptor: Int32

    /// Whether the file held something else that was shorter than a heading. It is gone.
    let isReplaced: Bool

    package static let heading = Array("gannet journal 1\n".utf8)

    /// Opens the file, and makes it if it is missing.
    init(_ path: String, isNew: Bool = false) throws {
        self.path = path
        let opened = open(path, O_RDWR | O_CREAT | (isNew ? O_TRUNC : 0) | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw StorageFailure.refused("file", path, "opened") }
        descriptor = opened
        let beginning = Self.beginning(of: opened)
        isReplaced = beginning.map { !Self.heading.starts(with: $0) } ?? false
        guard let found = beginning else { throw StorageFailure.refused("file", path, "read") }
        if found.count == Self.heading.count {
            guard !isReplaced else {
                throw StorageFailure(
                    "The file \(path.escapedForDisplay) is not a journal of this version of gannet. Use another folder, or remove the file to have "
                        + "all URLs fetched again.")
            }
        } else {
            // The file is new, or a crash has left a part of the heading.
            try truncate(to: 0)
            try write(Self.heading, at: 0)
        }
    }

    deinit { close(descriptor) }

    /// Up to as many bytes as a heading has.
    private static func beginning(of descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: heading.count)
        let count = bytes.withUnsafeMutableBytes { Descriptor.read(into: $0, from: descriptor, at: 0) }
        return count.map { Array(bytes[..<$0]) }
    }

    var size: Int {
        get throws {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw StorageFailure.refused("file", path, "read") }
            return Int(status.st_size)
        }
    }

    /// Writes all of the bytes, or restores the file's length.
    func write(_ bytes: [UInt8], at start: Int) throws {
        if Descriptor.write(bytes, to: descriptor, at: start) { return }
        let failure = StorageFailure.refused("file", path, "written")
        try truncate(to: start)
        throw failure
    }

    func flush() throws {
        guard fsync(descriptor) == 0 else { throw StorageFailure.refused("file", path, "written") }
    }

    func truncate(to size: Int) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw StorageFailure.refused("file", path, "written") }
    }

    /// Returns the number of bytes that were read, fewer than asked for at the end of the file.
    func read(into buffer: inout [UInt8], at position: Int, count: Int, from offset: Int) throws -> Int {
        let result = buffer.withUnsafeMutableBytes { buffer in
            Descriptor.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[position..<position + count]), from: descriptor, at: offset)
        }
        guard let result else { throw StorageFailure.refused("file", path, "read") }
        return result
    }

    /// Replaces another file by this one.
    func replace(_ other: String) throws {
        guard SafeFile.publish(path, as: other) else { throw StorageFailure.refused("file", path, "written") }
    }
}
