/// One encoding of a body and the buffer that it is decoded into. Both are made when the first byte comes.
final class DecodingStep {
    let coding: ContentCoding
    /// How many bytes have come out.
    private(set) var decodedBytes: Int64 = 0

    private static let bufferSize = 64 * 1024
    private var stage: (any DecodingStage)?
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The buffer was filled, so there may be more output without more input.
    private var isFull = false

    init(_ coding: ContentCoding) { self.coding = coding }

    deinit { buffer.deallocate() }

    var isComplete: Bool { stage?.isComplete ?? true }

    /// The next piece that the input decodes to, in the buffer until the next call; nil when all of the input is used up.
    func next(_ input: inout UnsafeRawBufferPointer) throws(FetchError) -> UnsafeRawBufferPointer? {
        while isFull || !input.isEmpty {
            let stage = if let stage { stage } else { try start() }
            let before = input.count
            let count = try stage.advance(&input, into: buffer)
            guard count > 0 || input.count < before || input.isEmpty else { throw .malformed(coding, detail: "it does not go on") }
            isFull = count == buffer.count
            guard count > 0 else { continue }
            decodedBytes += Int64(count)
            return UnsafeRawBufferPointer(rebasing: buffer[..<count])
        }
        return nil
    }

    private func start() throws(FetchError) -> any DecodingStage {
        let made: any DecodingStage =
            switch coding {
            case .gzip: try GzipStage()
            case .deflate: DeflateStage()
            case .brotli: try BrotliStage()
            case .zstd: try ZstdStage()
            }
        buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
        stage = made
        return made
    }
}

/// The undoing of one encoding, fed in pieces of any size.
///
/// The pieces into which a body is cut make no difference to its decoded form. They may make one to how much of a damaged body comes out
/// before the damage is noticed.
protocol DecodingStage: AnyObject {
    /// Takes bytes from the front of `input` and writes decoded ones to the front of `output`, until one of them is used up. Answers how many
    /// were written. Bytes behind a tolerated end are taken and dropped.
    ///
    /// When it leaves room in `output`, it holds back only output that needs more input.
    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(FetchError) -> Int

    /// Whether the input may end here.
    var isComplete: Bool { get }
}
