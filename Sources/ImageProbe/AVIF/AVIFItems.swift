/// The `meta` box: which item is the picture, how large it is, and that the data of all items is there.
struct AVIFItems {
    let size: ImageSize

    init(from reader: inout ImageReader, in meta: ISOBox, isBranded: Bool) throws(ImageProbeError) {
        try meta.require(in: reader)
        // Behind its version and flags.
        let properties = try meta.need("iprp", in: &reader, skipping: 4)
        let list = try AVIFProperties(from: &reader, in: properties, item: Self.primary(in: &reader, meta))
        guard list.hasCodec else {
            // Of a brand that other codecs share, this is one of theirs.
            throw isBranded ? reader.malformed("its codec is not described") : .notAnImage(.otherImage)
        }
        guard let width = list.width, let height = list.height else { throw reader.malformed("the size of its picture is not described") }
        size = try reader.size(width, height)
        try AVIFLocations.check(in: &reader, meta)
    }

    private static func primary(in reader: inout ImageReader, _ meta: ISOBox) throws(ImageProbeError) -> Int {
        var cursor = BoxCursor(try meta.need("pitm", in: &reader, skipping: 4))
        let version = try cursor.take(1, from: &reader)
        try cursor.skip(3, in: reader)
        return try cursor.take(version == 0 ? 2 : 4, from: &reader)
    }
}
