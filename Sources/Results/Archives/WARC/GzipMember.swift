internal import CZlib
internal import GannetBase

/// Packs one record after another, each into a gzip member of its own. Equal input gives equal bytes: no time and no name is in them.
///
/// One caller at a time uses it. The state of a compressor takes 256 KiB and some time to make, so it is used again.
package final class GzipPacker: @unchecked Sendable {
    // zlib's state points back to it, so it may not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var output = [UInt8](repeating: 0, count: 64 << 10)

    init(level: Int) throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 31 stands for a window of 32 KiB in gzip's wrapper.
        guard gannet_deflate_init(stream, Int32(level), 31) == Z_OK else {
            throw ArchiveError.ended("There is no memory for a compressor.")
        }
    }

    // Runs after a failed initializer, too. zlib knows a stream that was never set up.
    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Begins a member, and drops the half of an earlier one whose body failed.
    func begin() { deflateReset(stream) }

    func add(_ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        try advance(bytes, Z_NO_FLUSH, take)
    }

    func add(_ bytes: [UInt8], _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        try bytes.withUnsafeBytes { try advance($0, Z_NO_FLUSH, take) }
    }

    /// One member.
    package static func packed(_ bytes: [UInt8], level: Int = 6) throws -> [UInt8] {
        let packer = try GzipPacker(level: level)
        var member: [UInt8] = []
        packer.begin()
        try packer.add(bytes) { member += $0 }
        try packer.end { member += $0 }
        return member
    }

    func end(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        try advance(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH, take)
    }

    private func advance(_ bytes: UnsafeRawBufferPointer, _ flush: Int32, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        // Pieces have far fewer bytes than zlib's counters can hold, heads too.
        // zlib only reads from it.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(bytes.count)
        while true {
            let (count, code) = output.withUnsafeMutableBytes { room in
                stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_out = UInt32(room.count)
                let code = deflate(stream, flush)
                return (room.count - Int(stream.pointee.avail_out), code)
            }
            if count > 0 { try output.withUnsafeBytes { try take(UnsafeRawBufferPointer(rebasing: $0[..<count])) } }
            if code == Z_STREAM_END { return }
            // Only a wrong call brings another code than these two. The buffer error says that there was nothing to do.
            guard code == Z_OK || code == Z_BUF_ERROR else { throw ArchiveError.ended("zlib has failed with \(code).") }
            if flush == Z_NO_FLUSH, stream.pointee.avail_in == 0, count < output.count { return }
        }
    }
}
