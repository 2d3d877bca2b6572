internal import GannetBasics

extension Inflate {
    /// As `DecodingStage.advance`; also answers whether the stream has ended.
    func advance(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, as coding: ContentCoding
    ) throws(DecodingFailure) -> (count: Int, hasEnded: Bool) {
        let (count, outcome) = advance(&input, into: output)
        switch outcome {
        case .more: return (count, false)
        case .ended: return (count, true)
        case .damaged(let detail): throw .malformed(coding, detail: detail)
        case .outOfMemory: throw .outOfMemory(coding)
        }
    }
}
