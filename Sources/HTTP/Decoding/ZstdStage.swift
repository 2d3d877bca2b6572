import CZstd

/// Zstandard (RFC 8878): any number of frames one behind the other, which are one body; frames to be skipped are skipped.
///
/// A frame may ask for a window of 8 MB, as RFC 9659 has it for the web, and for no dictionary. A frame may be followed by another frame only.
final class ZstdStage: DecodingStage {
    private static let windowLog: Int32 = 23
    /// The longest header of a frame.
    private static let headerSize = 18

    private let context: OpaquePointer
    /// How much of a header may still be to come.
    private var headerBytesLeft = headerSize
    private(set) var isComplete = false

    init() throws(FetchError) {
        guard let context = ZSTD_createDCtx() else { throw .outOfMemory(.zstd) }
        self.context = context
        let code = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLog)
        guard ZSTD_isError(code) == 0 else { fatalError("libzstd refused a bound on its memory.") }
    }

    deinit { ZSTD_freeDCtx(context) }

    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(FetchError) -> Int {
        // Asked for more behind the end of a frame, the library would begin another.
        guard !isComplete || !input.isEmpty else { return 0 }
        var written = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        repeat {
            // Given a whole frame at once, the library decodes it in one go, whatever window it asks for, and also formats from before
            // Zstandard was one. Neither may depend on how the body happened to arrive: the first bytes of a frame come one by one.
            let given = headerBytesLeft > 0 ? min(input.count, 1) : input.count
            var read = ZSTD_inBuffer(src: input.baseAddress, size: given, pos: 0)
            let code = ZSTD_decompressStream(context, &written, &read)
            guard ZSTD_isError(code) == 0 else { throw Self.failure(code) }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(read.pos))
            isComplete = code == 0
            headerBytesLeft = isComplete ? Self.headerSize : max(headerBytesLeft - read.pos, 0)
        } while !input.isEmpty && written.pos < written.size
        return written.pos
    }

    private static func failure(_ code: Int) -> FetchError {
        ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation
            ? .outOfMemory(.zstd) : .malformed(.zstd, detail: String(cString: ZSTD_getErrorName(code)))
    }
}
