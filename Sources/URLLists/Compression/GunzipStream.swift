import CZlib

/// What gzip packed, a piece at a time: one member or several, one behind the other, as `cat` and parallel compressors make them.
final class GunzipStream {
    private enum Phase {
        case member
        case between
        /// Zeros up to the end, with which tapes are filled up.
        case padding
    }

    /// The first byte of every member, with which no list begins.
    static let firstByte: UInt8 = 0x1F

    // zlib's state points back to it, so it may not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    private var phase = Phase.member

    init() throws(ListError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits are zlib's whole window; 16 more ask for gzip's wrapper.
        guard gannet_inflate_init(stream, 15 + 16) == Z_OK else {
            stream.deallocate()
            window.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        window.deallocate()
    }

    /// As much as one window holds, good until the next call, which goes on where this one stopped. Of a whole member nothing is held back: its
    /// checksum comes last.
    func unpack(_ input: inout UnsafeRawBufferPointer) throws(ListError) -> UnsafeRawBufferPointer {
        var count = 0
        repeat {
            switch phase {
            case .member: try inflateOnce(&input, &count)
            case .between: try beginMember(input)
            case .padding:
                guard input.allSatisfy({ $0 == 0 }) else { throw .badCompression("something else follows it") }
                input = input.part(input.count, input.count)
            }
        } while !input.isEmpty && count < window.count
        return UnsafeRawBufferPointer(rebasing: window[..<count])
    }

    /// The input is at its end: is that where the last member ends?
    func finish() throws(ListError) {
        if phase == .member { throw .truncatedCompression }
    }

    private func beginMember(_ input: UnsafeRawBufferPointer) throws(ListError) {
        switch input.first {
        case nil: break
        case Self.firstByte?:
            inflateReset(stream)
            phase = .member
        case 0?: phase = .padding
        default: throw .badCompression("something else follows it")
        }
    }

    private func inflateOnce(_ input: inout UnsafeRawBufferPointer, _ count: inout Int) throws(ListError) {
        // zlib only reads from it.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(clamping: input.count)
        let given = Int(stream.pointee.avail_in)
        stream.pointee.next_out = window.baseAddress?.advanced(by: count).assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(window.count - count)
        let code = inflate(stream, Z_NO_FLUSH)
        input = input.part(given - Int(stream.pointee.avail_in), input.count)
        count = window.count - Int(stream.pointee.avail_out)
        switch code {
        // The buffer error says that there was nothing to do.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: phase = .between
        case Z_MEM_ERROR: throw .outOfMemory
        default: throw .badCompression(stream.pointee.msg.map { String(cString: $0) } ?? "zlib's error \(code)")
        }
    }
}
