internal import GannetBase

/// The bytes of a body, and where they are. A file must not change until the call that was given it has returned.
package enum ArchiveContent: Sendable {
    case bytes([UInt8])
    /// The first `count` bytes of a file.
    case file(path: String, count: Int)
    /// The first `count` bytes of an open file, whose position stays as it is. The caller keeps it open and closes it.
    case descriptor(Int32, count: Int)

    package var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, let count), .descriptor(_, let count): count
        }
    }

    private static let piece = 128 << 10

    /// Hands over all bytes in order, a piece at a time, or throws.
    func read(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .bytes(let bytes): try bytes.withUnsafeBytes { if !$0.isEmpty { try take($0) } }
        case .file(let path, let count):
            let file = try OpenedFile(path, O_RDONLY)
            try Self.read(file.descriptor, count, path, take)
        case .descriptor(let descriptor, let count): try Self.read(descriptor, count, "descriptor \(descriptor)", take)
        }
    }

    private static func read(_ descriptor: Int32, _ count: Int, _ path: String, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard count >= 0 else { throw ArchiveError.unfit("A body cannot have \(count) bytes.") }
        try withUnsafeTemporaryAllocation(byteCount: max(1, min(piece, count)), alignment: 16) { buffer in
            var done = 0
            while done < count {
                let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, count - done)])
                guard let found = Descriptor.read(into: wanted, from: descriptor, at: done) else {
                    throw ArchiveError.refused("read", path)
                }
                guard found == wanted.count else { throw ArchiveError.shortBody(expected: count, found: done + found) }
                try take(UnsafeRawBufferPointer(wanted))
                done += found
            }
        }
    }
}
