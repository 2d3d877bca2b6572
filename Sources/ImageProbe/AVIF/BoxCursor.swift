/// Takes one field of a box after the other and does not leave the box.
struct BoxCursor {
    private(set) var offset: Int
    let end: Int

    init(_ box: ISOBox) {
        offset = box.start
        end = box.end
    }

    var rest: Int { end - offset }

    /// The next unsigned number of 0, 1, 2, 3, 4 or 8 bytes.
    mutating func take(_ size: Int, from reader: inout ImageReader) throws(ImageProbeError) -> Int {
        guard size <= rest else { throw reader.malformed("a box is too short for what it lists") }
        defer { offset += size }
        switch size {
        case 0: return 0
        case 1: return try reader.u8(at: offset)
        case 2: return try reader.u16(at: offset)
        case 3: return try reader.u24(at: offset)
        case 4: return try reader.u32(at: offset)
        default: return try reader.u64(at: offset)
        }
    }

    mutating func skip(_ size: Int, in reader: borrowing ImageReader) throws(ImageProbeError) {
        guard size <= rest else { throw reader.malformed("a box is too short for what it lists") }
        offset += size
    }
}
