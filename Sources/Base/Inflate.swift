internal import CZlib

/// One deflate stream, unpacked a piece at a time. It has a window of 32 KiB, whatever the stream says.
package final class Inflate {
    package enum Wrapper: Int32, Sendable {
        // zlib's window bits: 15, and by how much they are raised or negated.
        case gzip = 31
        case zlib = 15
        case none = -15
    }

    package enum Outcome: Sendable, Equatable {
        /// The input or the room for output is used up.
        case more
        /// The stream has ended, and its checksum is right.
        case ended
        /// The bytes are not of the format, in zlib's words.
        case damaged(String)
        case outOfMemory
    }

    // zlib's state points back to it, so it may not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Nil when there is no memory for it.
    package init?(_ wrapper: Wrapper) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard gannet_inflate_init(stream, wrapper.rawValue) == Z_OK else { return nil }
    }

    // Runs after a failed initializer, too. zlib knows a stream that was never set up.
    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Makes ready for another stream in the same wrapper.
    package func restart() { inflateReset(stream) }

    /// Takes bytes from the front of `input`, writes unpacked ones to the front of `output`, and answers how many.
    package func advance(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (count: Int, outcome: Outcome) {
        let given = min(input.count, Int(UInt32.max))
        // zlib only reads from it.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(given)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let code = inflate(stream, Z_NO_FLUSH)
        input = UnsafeRawBufferPointer(rebasing: input.dropFirst(given - Int(stream.pointee.avail_in)))
        let count = min(output.count, Int(UInt32.max)) - Int(stream.pointee.avail_out)
        switch code {
        // The buffer error says that there was nothing to do.
        case Z_OK, Z_BUF_ERROR: return (count, .more)
        case Z_STREAM_END: return (count, .ended)
        case Z_NEED_DICT: return (count, .damaged("it needs a dictionary"))
        case Z_MEM_ERROR: return (count, .outOfMemory)
        default: return (count, .damaged(stream.pointee.msg.map { String(cString: $0) } ?? "zlib's error \(code)"))
        }
    }
}
