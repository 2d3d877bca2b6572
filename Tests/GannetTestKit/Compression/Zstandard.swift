internal import CZstd

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
