import CBrotli

/// Brotli (RFC 7932). Large windows are another format, which the decoder refuses unless told otherwise, so that 16 MB is the largest.
///
/// There is no checksum in it, so nothing may come behind its end, as with curl.
final class BrotliStage: DecodingStage {
    private let decoder: OpaquePointer
    private(set) var isComplete = false

    init() throws(FetchError) {
        guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .outOfMemory(.brotli) }
        self.decoder = decoder
    }

    deinit { BrotliDecoderDestroyInstance(decoder) }

    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(FetchError) -> Int {
        guard !isComplete else {
            guard input.isEmpty else { throw .malformed(.brotli, detail: "there are bytes behind its end") }
            return 0
        }
        var inputLeft = input.count
        var inputNext = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var outputLeft = output.count
        var outputNext = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = BrotliDecoderDecompressStream(decoder, &inputLeft, &inputNext, &outputLeft, &outputNext, nil)
        input = UnsafeRawBufferPointer(rebasing: input.suffix(inputLeft))
        switch result {
        case BROTLI_DECODER_RESULT_SUCCESS: isComplete = true
        case BROTLI_DECODER_RESULT_ERROR: throw failure
        default: break
        }
        return output.count - outputLeft
    }

    private var failure: FetchError {
        let code = BrotliDecoderGetErrorCode(decoder)
        switch code {
        case BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES, BROTLI_DECODER_ERROR_ALLOC_TREE_GROUPS, BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MAP,
            BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_1, BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_2,
            BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES:
            return .outOfMemory(.brotli)
        default: return .malformed(.brotli, detail: String(cString: BrotliDecoderErrorString(code)))
        }
    }
}
