/// The descriptor of one frame, with its colors.
struct GIFFrame {
    let right: Int
    let bottom: Int
    /// Where its data begins.
    let end: Int

    init(from reader: inout ImageReader, at offset: Int) throws(ImageProbeError) {
        let (left, top) = (try reader.u16(at: offset + 1), try reader.u16(at: offset + 3))
        let (width, height) = (try reader.u16(at: offset + 5), try reader.u16(at: offset + 7))
        // Decoders make room for a frame, also when it is larger than its canvas.
        if width > 0, height > 0 { _ = try reader.size(width, height) }
        right = left + width
        bottom = top + height
        let codes = offset + 10 + GIFProbe.palette(try reader.u8(at: offset + 9))
        guard (1...11).contains(try reader.u8(at: codes)) else { throw reader.malformed("the code size of a frame is out of range") }
        end = codes + 1
    }
}
