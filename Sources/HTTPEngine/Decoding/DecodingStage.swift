/// The undoing of one encoding, fed in pieces of any size.
///
/// Whether a body can be decoded, and to what, does not depend on how it is cut into pieces; how much of one that cannot comes out before
/// that is noticed may.
protocol DecodingStage: AnyObject {
    /// Takes bytes from the front of `input` and writes decoded ones to the front of `output`, until one of them is used up; answers how
    /// many were written. Bytes behind a tolerated end are taken and come to nothing.
    ///
    /// When it leaves room in `output`, it holds nothing back but what more input must complete.
    func advance(_ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(DecodingFailure) -> Int

    /// Whether the input may end here.
    var isComplete: Bool { get }
}
