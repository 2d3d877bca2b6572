/// The header of the picture proper (SOF).
struct JPEGFrame {
    let width: Int
    /// Zero until the first scan's end tells it, which only scanners that do not know their paper's length make use of.
    private(set) var height: Int
    let components: Int

    /// Reads it from the segment whose length stands at `offset`.
    init(from reader: inout ImageReader, at offset: Int, length: Int) throws(ImageProbeError) {
        guard length >= 8 else { throw reader.malformed("the header of its frame is damaged") }
        let precision = try reader.u8(at: offset + 2)
        height = try reader.u16(at: offset + 3)
        width = try reader.u16(at: offset + 5)
        components = try reader.u8(at: offset + 7)
        guard (2...16).contains(precision), components > 0, length == 8 + 3 * components else {
            throw reader.malformed("the header of its frame is damaged")
        }
        _ = try reader.size(width, max(height, 1))
    }

    /// Takes the height from a DNL segment, unless it is known.
    mutating func defineHeight(from reader: inout ImageReader, at offset: Int, length: Int) throws(ImageProbeError) {
        guard length == 4 else { throw reader.malformed("its number of lines is damaged") }
        if height == 0 { height = try reader.u16(at: offset + 2) }
    }
}
