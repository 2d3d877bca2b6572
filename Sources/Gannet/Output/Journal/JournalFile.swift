internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file of a journal: a heading, then lines that are only ever added. One writer at a time; the folder's lock sees to that.
final class JournalFile: Sendable {
    let path: String
    private let descriptor: Int32

    static let heading = Array("gannet journal 1\n".utf8)

    /// Opens the file, and makes it where it is missing.
    init(_ path: String, isNew: Bool = false) throws(OutputFailure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | (isNew ? O_TRUNC : 0) | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.failure("cannot be opened", path) }
        let size = try self.size
        if size >= Self.heading.count {
            var found = [UInt8](repeating: 0, count: Self.heading.count)
            _ = try read(into: &found, at: 0, count: found.count, from: 0)
            guard found == Self.heading else {
                throw OutputFailure(
                    "The file \(path.escapedForDisplay) is not a journal of this version of gannet. Use another folder, or remove the file to have "
                        + "all URLs fetched again.")
            }
        } else {
            // Nothing, or what a crash has left of a heading.
            try truncate(to: 0)
            try write(Self.heading, at: 0)
        }
    }

    deinit { close(descriptor) }

    var size: Int {
        get throws(OutputFailure) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.failure("cannot be read", path) }
            return Int(status.st_size)
        }
    }

    /// Writes all of the bytes, or leaves the file as long as it was.
    func write(_ bytes: [UInt8], at start: Int) throws(OutputFailure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + done, bytes.count - done, off_t(start + done)) }
            if count > 0 {
                done += count
            } else if count == 0 || errno != EINTR {
                let failure = Self.failure("cannot be written", path)
                try truncate(to: start)
                throw failure
            }
        }
    }

    func truncate(to size: Int) throws(OutputFailure) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("cannot be written", path) }
    }

    /// How many bytes were read; none at the end of the file.
    func read(into buffer: inout [UInt8], at position: Int, count: Int, from offset: Int) throws(OutputFailure) -> Int {
        while true {
            let result = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + position, count, off_t(offset)) }
            if result >= 0 { return result }
            guard errno == EINTR else { throw Self.failure("cannot be read", path) }
        }
    }

    /// Puts this file in the place of another, when all of it is on the disk.
    func replace(_ other: String) throws(OutputFailure) {
        guard fsync(descriptor) == 0, rename(path, other) == 0 else { throw Self.failure("cannot be written", path) }
    }

    private static func failure(_ what: String, _ path: String) -> OutputFailure {
        let reason = String(cString: strerror(errno))
        return OutputFailure("The file \(path.escapedForDisplay) \(what): \(reason).")
    }
}
