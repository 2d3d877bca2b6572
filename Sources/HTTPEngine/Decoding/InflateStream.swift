import CZlib

/// One deflate stream in zlib, in one of its wrappers. It has a window of 32 KiB, whatever the stream says.
final class InflateStream {
    enum Wrapper: Int32 {
        // zlib's window bits: 15, and by how much they are raised or negated.
        case gzip = 31
        case zlib = 15
        case none = -15
    }

    private let coding: ContentCoding
    // zlib's state points back to it, so it may not move.
    private let stream: UnsafeMutablePointer<z_stream>

    init(_ wrapper: Wrapper, for coding: ContentCoding) throws(DecodingFailure) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard gannet_inflate_init(stream, wrapper.rawValue) == Z_OK else {
            stream.deallocate()
            throw .outOfMemory(coding)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Makes ready for another stream in the same wrapper.
    func restart() { inflateReset(stream) }

    /// As `DecodingStage.advance`; also answers whether the stream has come to its end, with its checksum right.
    func advance(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingFailure) -> (count: Int, hasEnded: Bool) {
        let given = min(input.count, Int(UInt32.max))
        // zlib only reads from it.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(given)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        let code = inflate(stream, Z_NO_FLUSH)
        input = UnsafeRawBufferPointer(rebasing: input.dropFirst(given - Int(stream.pointee.avail_in)))
        let count = output.count - Int(stream.pointee.avail_out)
        switch code {
        // The buffer error says that there was nothing to do.
        case Z_OK, Z_BUF_ERROR: return (count, false)
        case Z_STREAM_END: return (count, true)
        case Z_NEED_DICT: throw .malformed(coding, detail: "it needs a dictionary")
        case Z_MEM_ERROR: throw .outOfMemory(coding)
        default: throw .malformed(coding, detail: stream.pointee.msg.map { String(cString: $0) } ?? "zlib's error \(code)")
        }
    }
}
