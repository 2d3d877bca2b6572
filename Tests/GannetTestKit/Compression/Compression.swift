internal import CBrotliEncoder
internal import CZlib
internal import CZstd

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

/// Bytes as libbrotlienc compresses them.
package enum Brotli {
    /// A whole stream.
    /// - Parameter window: The window's size as a power of 2; above 24 it is not the brotli of the web.
    package static func compressed(_ bytes: [UInt8], quality: UInt32 = 5, window: UInt32 = 22) -> [UInt8] {
        guard let encoder = BrotliEncoderCreateInstance(nil, nil, nil) else { preconditionFailure("brotli does not compress") }
        defer { BrotliEncoderDestroyInstance(encoder) }
        BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, quality)
        BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LARGE_WINDOW, window > 24 ? 1 : 0)
        BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, window)
        let capacity = BrotliEncoderMaxCompressedSize(bytes.count) + 1024
        return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            bytes.withUnsafeBufferPointer { input in
                var inputLeft = input.count
                var inputNext = input.baseAddress
                var outputLeft = capacity
                var outputNext = output.baseAddress
                BrotliEncoderCompressStream(
                    encoder, BROTLI_OPERATION_FINISH, &inputLeft, &inputNext, &outputLeft, &outputNext, nil)
                precondition(BrotliEncoderIsFinished(encoder) != 0, "brotli has not compressed everything")
                count = capacity - outputLeft
            }
        }
    }
}

/// Bytes as libzstd compresses them.
package enum Zstandard {
    /// A whole frame.
    /// - Parameters:
    ///   - window: The window's size as a power of 2; nil is the library's choice.
    ///   - saysSize: Whether the frame says at its beginning how much it holds, as one that was written in one go does. Without that the
    ///     library chooses larger windows than the content needs.
    package static func compressed(
        _ bytes: [UInt8], level: Int32 = 3, checksum: Bool = true, window: Int32? = nil, saysSize: Bool = true
    ) -> [UInt8] {
        guard let context = ZSTD_createCCtx() else { preconditionFailure("zstd does not compress") }
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0)
        if let window { ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window) }
        let capacity = ZSTD_compressBound(bytes.count) + 64
        return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            bytes.withUnsafeBytes { bytes in
                var written = ZSTD_outBuffer(dst: output.baseAddress, size: capacity, pos: 0)
                var read = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
                // To be asked first for less than the end is what keeps the library from knowing the size.
                if !saysSize { ZSTD_compressStream2(context, &written, &read, ZSTD_e_flush) }
                precondition(ZSTD_compressStream2(context, &written, &read, ZSTD_e_end) == 0, "zstd has not compressed everything")
                count = written.pos
            }
        }
    }
}
