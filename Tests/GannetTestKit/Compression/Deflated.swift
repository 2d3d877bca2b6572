internal import CZlib

/// Bytes as zlib compresses them.
package enum Deflated {
    /// A whole gzip member.
    package static func gzip(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { compressed(bytes, level, windowBits: 15 + 16) }

    /// A zlib stream: what the standard calls deflate.
    /// - Parameter window: The window's size as a power of 2, from 9 to 15.
    package static func zlib(_ bytes: [UInt8], level: Int32 = 6, window: Int32 = 15) -> [UInt8] {
        compressed(bytes, level, windowBits: window)
    }

    /// A bare deflate stream: what some servers call deflate.
    package static func raw(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { compressed(bytes, level, windowBits: -15) }

    private static func compressed(_ bytes: [UInt8], _ level: Int32, windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        precondition(gannet_deflate_init(&stream, level, windowBits) == Z_OK, "zlib does not compress")
        defer { deflateEnd(&stream) }
        var input = bytes
        let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(capacity)
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib has not compressed everything")
            }
            count = capacity - Int(stream.avail_out)
        }
    }
}
