/// How wide offsets are: 4 bytes, or 8 in BigTIFF.
struct TIFFForm {
    let isBig: Bool
    /// Where the first directory is.
    let first: Int

    /// Sets the reader's byte order, too.
    init(from reader: inout ImageReader) throws(ImageProbeError) {
        reader.order = try reader.u8(at: 0) == 0x4d ? .big : .little
        isBig = try reader.u16(at: 2) == 43
        guard isBig else {
            first = try reader.u32(at: 4)
            return
        }
        guard try reader.u16(at: 4) == 8, try reader.u16(at: 6) == 0 else { throw reader.malformed("its offsets are of an unknown width") }
        first = try reader.u64(at: 8)
    }

    /// The length of the number of entries that a directory begins with.
    var countLength: Int { isBig ? 8 : 2 }
    var entryLength: Int { isBig ? 20 : 12 }
    var offsetLength: Int { isBig ? 8 : 4 }

    func offset(at place: Int, in reader: inout ImageReader) throws(ImageProbeError) -> Int {
        isBig ? try reader.u64(at: place) : try reader.u32(at: place)
    }
}
