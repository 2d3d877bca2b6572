/// What a directory (IFD) says of a picture's size, and of where its data and further directories are.
struct TIFFDirectory {
    /// Where the chain goes on; zero at its end.
    let next: Int
    private var width: TIFFField?
    private var height: TIFFField?
    private var places: [Int: TIFFField] = [:]

    private static let strips = (offsets: 273, lengths: 279)
    private static let tiles = (offsets: 324, lengths: 325)
    /// A whole JPEG, as the first edition of TIFF 6 had it.
    private static let stream = (offsets: 513, lengths: 514)
    /// Smaller pictures, Exif, position, and what Exif has below it.
    private static let directories = [330, 34_665, 34_853, 40_965]

    /// Reads the entries from `offset` on, which were found to be there.
    init(from reader: inout ImageReader, at offset: Int, count: Int, _ form: TIFFForm) throws(ImageProbeError) {
        let end = offset + count * form.entryLength
        next = try form.offset(at: end, in: &reader)
        for entry in stride(from: offset, to: end, by: form.entryLength) {
            reader.part = "what a directory points to"
            let field = try TIFFField(from: &reader, at: entry, form)
            switch field.tag {
            case 256: width = field
            case 257: height = field
            case Self.strips.offsets, Self.strips.lengths, Self.tiles.offsets, Self.tiles.lengths, Self.stream.offsets,
                Self.stream.lengths:
                places[field.tag] = field
            case let tag where Self.directories.contains(tag): places[tag] = field
            default: break
            }
        }
    }

    func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize {
        guard let width, let height else { throw reader.malformed("its width or height is missing") }
        guard !data.isEmpty else { throw reader.malformed("it does not say where its data is") }
        return try reader.size(try width.value(at: 0, in: &reader), try height.value(at: 0, in: &reader))
    }

    /// Where the pieces of the picture are, and how long each of them.
    var data: [(offsets: TIFFField, lengths: TIFFField)] {
        [Self.strips, Self.tiles, Self.stream].compactMap { tags in
            guard let offsets = places[tags.offsets], let lengths = places[tags.lengths] else { return nil }
            return (offsets, lengths)
        }
    }

    var children: [TIFFField] { Self.directories.compactMap { places[$0] } }

    /// Throws unless every piece is there whole.
    func check(_ offsets: TIFFField, _ lengths: TIFFField, in reader: inout ImageReader) throws(ImageProbeError) {
        reader.part = "the end of its pixels"
        guard offsets.count == lengths.count, offsets.count > 0 else { throw reader.malformed("it has not as many lengths as pieces") }
        for index in 0..<offsets.count {
            let length = try lengths.value(at: index, in: &reader)
            // A piece without a length is one that was left out because it is blank.
            if length > 0 { try reader.require(length, at: try offsets.value(at: index, in: &reader)) }
        }
    }
}
