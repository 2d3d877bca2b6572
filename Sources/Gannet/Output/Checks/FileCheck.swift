internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Compares files with what was recorded of them. For one thread.
final class FileCheck {
    private let folder: String
    private let hasher = SHA256Hasher()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)

    init(in folder: String) { self.folder = folder }

    deinit { buffer.deallocate() }

    /// Whether a record's file is there, an ordinary one, and byte for byte what was fetched.
    func isSound(_ record: JobRecord) -> Bool {
        guard let digest = record.digest, !record.file.isEmpty else { return false }
        return isSound(record.file, size: record.bytes, digest: digest)
    }

    /// How long ago a file was written, by the machine's clock.
    func age(of file: String) -> Duration? {
        var status = stat()
        var now = timespec()
        guard lstat("\(folder)/\(file)", &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
        #if canImport(Darwin)
        let written = status.st_mtimespec
        #else
        let written = status.st_mtim
        #endif
        return .seconds(now.tv_sec - written.tv_sec) + .nanoseconds(now.tv_nsec - written.tv_nsec)
    }

    /// The same of a file by what it should be.
    func isSound(_ file: String, size: Int, digest: [UInt8]) -> Bool { isSound(file, size: size, digest: digest) { _ in } }

    /// The same, and `pass` is shown the bytes in turn. What it was shown is worth nothing where the answer is no.
    func isSound<Failure: Error>(
        _ file: String, size: Int, digest: [UInt8], pass: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        let path = "\(folder)/\(file)"
        var status = stat()
        // Asked before it is opened: to open a pipe would wait for its writer.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == size else { return false }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var left = size
        hasher.reset()
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count == 0 { break }
            left -= count
            // What grows while it is read is not what was fetched, and need not end.
            guard count > 0, left >= 0 else { return false }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(bytes)
            try pass(bytes)
        }
        return left == 0 && hasher.finish().bytes == digest
    }
}
