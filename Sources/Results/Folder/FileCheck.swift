internal import GannetBase
internal import GannetHTTP

/// Compares files with their recorded size and digest. Only one thread may use it.
///
/// It is no class: Swift 6.3's optimizer put such an object on the stack and freed it as if it were on the heap. So `export --store` crashed
/// in each release build.
struct FileCheck: ~Copyable {
    private let folder: String
    private let hasher = SHA256Hasher()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)

    init(in folder: String) { self.folder = folder }

    deinit { buffer.deallocate() }

    /// Whether the file of a record exists, is a regular file, and holds the bytes that were fetched.
    func isSound(_ record: JobRecord) -> Bool {
        let stored = record.stored
        guard let digest = stored.digest, !record.file.isEmpty else { return false }
        return isSound(record.file, size: stored.bytes, digest: digest)
    }

    /// The time since a file was written, by this machine's clock.
    func age(of file: String) -> Duration? {
        var status = stat()
        var now = timespec()
        guard lstat("\(folder)/\(file)", &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
        let written = status.modification
        return .seconds(now.tv_sec - written.tv_sec) + .nanoseconds(now.tv_nsec - written.tv_nsec)
    }

    func isSound(_ file: String, size: Int, digest: [UInt8]) -> Bool { isSound(file, size: size, digest: digest) { _ in } }

    /// Whether a file is a regular one with this size and digest.
    /// - Parameter pass: Receives the bytes in turn. They count only if the answer is true.
    func isSound(
        _ file: String, size: Int, digest: [UInt8], pass: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        let path = "\(folder)/\(file)"
        var status = stat()
        // The file is checked before it is opened, because opening a pipe would wait for its writer.
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
            // A file that grows while it is read is not the one that was fetched, and it may never end.
            guard count > 0, left >= 0 else { return false }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(bytes)
            try pass(bytes)
        }
        return left == 0 && hasher.finish().bytes == digest
    }
}
