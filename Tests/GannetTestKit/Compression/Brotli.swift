internal import CBrotliEncoder

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
