internal import GannetBase
internal import GannetHTTP

/// Files against their recorded size and digest.
extension BodyFolder {
    /// The most bytes that are read at once.
    private static let piece = 256 << 10

    /// Whether the file of a record exists, is a regular file, and holds the bytes that were fetched.
    func isSound(_ record: JobRecord) -> Bool {
        let stored = record.stored
        guard let digest = stored.digest, !record.file.isEmpty else { return false }
        return isSound(record.file, size: stored.bytes, digest: digest)
    }

    /// Whether a file is a regular one with this size and digest.
    /// - Parameter pass: Receives the bytes in turn. They count only if the answer is true.
    func isSound(
        _ file: String, size: Int, digest: [UInt8], pass: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        guard let opened = try? OpenedFile("\(path)/\(file)", O_RDONLY), (try? opened.size) == size else { return false }
        let hasher = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(size + 1, Self.piece), alignment: 16)
        defer { buffer.deallocate() }
        var done = 0
        while true {
            // A file that grows while it is read is not the one that was fetched, and it may never end.
            guard let count = Descriptor.read(into: buffer, from: opened.descriptor, at: done), done + count <= size else { return false }
            if count == 0 { break }
            done += count
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hasher.update(bytes)
            try pass(bytes)
        }
        return done == size && hasher.finish().bytes == digest
    }

    func isSound(_ file: String, size: Int, digest: [UInt8]) -> Bool { isSound(file, size: size, digest: digest) { _ in } }
}
