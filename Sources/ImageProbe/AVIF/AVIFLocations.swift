/// The `iloc` box: in which pieces the data of each item lies, in the file or in a box (`idat`) beside it.
struct AVIFLocations {
    private let version: Int
    private let offsetSize: Int
    private let lengthSize: Int
    private let baseSize: Int
    private let indexSize: Int
    /// How many bytes there are beside the list.
    private let inside: Int
    private var hasData = false

    static func check(in reader: inout ImageReader, _ meta: ISOBox) throws(ImageProbeError) {
        var cursor = BoxCursor(try meta.need("iloc", in: &reader, skipping: 4))
        let data = try meta.child("idat", in: &reader, skipping: 4)
        var locations = try AVIFLocations(from: &reader, &cursor, inside: data.map { $0.end - $0.start } ?? 0)
        for _ in 0..<(try cursor.take(locations.version == 2 ? 4 : 2, from: &reader)) { try locations.checkItem(in: &reader, &cursor) }
        guard locations.hasData else { throw reader.malformed("it says of no item where its data is") }
    }

    private init(from reader: inout ImageReader, _ cursor: inout BoxCursor, inside: Int) throws(ImageProbeError) {
        version = try cursor.take(1, from: &reader)
        try cursor.skip(3, in: reader)
        let sizes = try cursor.take(2, from: &reader)
        (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        indexSize = version == 0 ? 0 : sizes & 15
        self.inside = inside
        guard version <= 2, [offsetSize, lengthSize, baseSize, indexSize].allSatisfy({ [0, 4, 8].contains($0) }) else {
            throw reader.malformed("its list of locations is of an unknown form")
        }
    }

    private mutating func checkItem(in reader: inout ImageReader, _ cursor: inout BoxCursor) throws(ImageProbeError) {
        try cursor.skip(version == 2 ? 4 : 2, in: reader)
        let method = version == 0 ? 0 : try cursor.take(2, from: &reader) & 15
        guard try cursor.take(2, from: &reader) == 0 else { throw reader.malformed("its data is in another file") }
        let base = try cursor.take(baseSize, from: &reader)
        let count = try cursor.take(2, from: &reader)
        // Pieces whose description takes no room are all the same one, however many are said to be there.
        let isBare = offsetSize + lengthSize + indexSize == 0
        for _ in 0..<(isBare ? min(count, 1) : count) {
            try cursor.skip(indexSize, in: reader)
            let offset = base.plus(try cursor.take(offsetSize, from: &reader))
            let length = try cursor.take(lengthSize, from: &reader)
            try check(in: &reader, method: method, offset: offset, length: length)
            hasData = true
        }
    }

    private func check(in reader: inout ImageReader, method: Int, offset: Int, length: Int) throws(ImageProbeError) {
        switch method {
        case 0:
            reader.part = "the end of its data"
            // No length means all that there is, of which there has to be something.
            try reader.require(max(length, 1), at: offset)
        case 1:
            guard offset.plus(length) <= inside else { throw reader.malformed("an item lies outside the data beside its description") }
        default:
            // Counted from another item, whose own data is checked.
            break
        }
    }
}
