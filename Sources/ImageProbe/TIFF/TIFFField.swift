/// One entry of a directory: values of one type, in the entry itself or where it points to.
struct TIFFField {
    let tag: Int
    let count: Int
    private let type: Int
    private let place: Int

    /// How many bytes the values take.
    var length: Int { count.times(Self.width(ofType: type)) }

    /// Reads the entry at `offset`; its values are found to be there.
    init(from reader: inout ImageReader, at offset: Int, _ form: TIFFForm) throws(ImageProbeError) {
        tag = try reader.u16(at: offset)
        type = try reader.u16(at: offset + 2)
        count = try form.offset(at: offset + 4, in: &reader)
        let inline = offset + 4 + form.offsetLength
        let length = count.times(Self.width(ofType: type))
        place = length <= form.offsetLength ? inline : try form.offset(at: inline, in: &reader)
        try reader.require(length, at: place)
    }

    /// One of the values, which has to be a whole number.
    func value(at index: Int, in reader: inout ImageReader) throws(ImageProbeError) -> Int {
        guard index < count else { throw reader.malformed("a field is empty") }
        switch type {
        case 1: return try reader.u8(at: place + index)
        case 3: return try reader.u16(at: place + index * 2)
        case 4, 13: return try reader.u32(at: place + index * 4)
        case 16, 18: return try reader.u64(at: place + index * 8)
        default: throw reader.malformed("a number is of a type that is none")
        }
    }

    /// Zero for types that are not known, whose values readers have to pass over.
    private static func width(ofType type: Int) -> Int {
        switch type {
        case 1, 2, 6, 7: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: 0
        }
    }
}
