/// A TIFF is a chain of directories, one for each page, and the data that they point to anywhere in the file.
struct TIFFProbe {
    private let form: TIFFForm
    /// How many bytes of directories and tables may still be read. In a real file none lies upon another, so all together are no longer than
    /// the file; loops and overlaps end here.
    private var budget: Int
    private var directories = 0
    private var pending: [Place] = []

    private struct Place {
        let offset: Int
        /// Whether it is in the chain, not below another directory.
        let isPage: Bool
    }

    private static let limit = 65_536

    /// The size of the first page.
    static func size(in reader: inout ImageReader) throws -> ImageSize {
        var probe = try TIFFProbe(&reader)
        var size: ImageSize?
        while let place = probe.pending.popLast() {
            let directory = try probe.directory(in: &reader, at: place)
            if size == nil { size = try directory.size(in: reader) }
        }
        guard let size else { throw reader.malformed("it has no directory") }
        return size
    }

    private init(_ reader: inout ImageReader) throws {
        form = try TIFFForm(from: &reader)
        budget = reader.source.count.times(2)
        try add(form.first, isPage: true, in: reader)
    }

    /// Reads a directory, sees to it that all it points to is there, and notes the directories it names.
    private mutating func directory(in reader: inout ImageReader, at place: Place) throws -> TIFFDirectory {
        reader.part = "the end of a directory"
        let count = form.isBig ? try reader.u64(at: place.offset) : try reader.u16(at: place.offset)
        let length = count.times(form.entryLength).plus(form.countLength + form.offsetLength)
        try reader.require(length, at: place.offset)
        try spend(length, in: reader)
        let directory = try TIFFDirectory(from: &reader, at: place.offset + form.countLength, count: count, form)
        for (offsets, lengths) in directory.data {
            try spend(offsets.length.plus(lengths.length), in: reader)
            try directory.check(offsets, lengths, in: &reader)
        }
        reader.part = "the end of a directory"
        for field in directory.children {
            try spend(field.length, in: reader)
            for index in 0..<field.count { try add(try field.value(at: index, in: reader), isPage: false, in: reader) }
        }
        if place.isPage { try add(directory.next, isPage: true, in: reader) }
        return directory
    }

    private mutating func add(_ offset: Int, isPage: Bool, in reader: ImageReader) throws {
        guard offset > 0 else { return }
        directories += 1
        guard directories <= Self.limit else { throw reader.malformed("it has more than \(Self.limit) directories") }
        pending.append(Place(offset: offset, isPage: isPage))
    }

    private mutating func spend(_ bytes: Int, in reader: ImageReader) throws {
        guard bytes <= budget else { throw reader.malformed("its directories lie upon one another") }
        budget -= bytes
    }
}

/// How wide offsets are: 4 bytes, or 8 in BigTIFF.
struct TIFFForm {
    let isBig: Bool
    /// Where the first directory is.
    let first: Int

    /// Sets the reader's byte order, too.
    init(from reader: inout ImageReader) throws {
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

    func offset(at place: Int, in reader: ImageReader) throws -> Int {
        isBig ? try reader.u64(at: place) : try reader.u32(at: place)
    }
}

/// A directory (IFD): the size of a picture, and the places of its data and of further directories.
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
    init(from reader: inout ImageReader, at offset: Int, count: Int, _ form: TIFFForm) throws {
        let end = offset + count * form.entryLength
        next = try form.offset(at: end, in: reader)
        for entry in stride(from: offset, to: end, by: form.entryLength) {
            reader.part = "what a directory points to"
            let field = try TIFFField(from: reader, at: entry, form)
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

    func size(in reader: ImageReader) throws -> ImageSize {
        guard let width, let height else { throw reader.malformed("its width or height is missing") }
        guard !data.isEmpty else { throw reader.malformed("it does not say where its data is") }
        return try reader.size(try width.value(at: 0, in: reader), try height.value(at: 0, in: reader))
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
    func check(_ offsets: TIFFField, _ lengths: TIFFField, in reader: inout ImageReader) throws {
        reader.part = "the end of its pixels"
        guard offsets.count == lengths.count, offsets.count > 0 else { throw reader.malformed("it has not as many lengths as pieces") }
        for index in 0..<offsets.count {
            let length = try lengths.value(at: index, in: reader)
            // A piece without a length is one that was left out because it is blank.
            if length > 0 { try reader.require(length, at: try offsets.value(at: index, in: reader)) }
        }
    }
}

/// One entry of a directory: values of one type, in the entry itself or where it points to.
struct TIFFField {
    let tag: Int
    let count: Int
    private let type: Int
    private let place: Int

    /// How many bytes the values take.
    var length: Int { count.times(Self.width(ofType: type)) }

    /// Reads the entry at `offset`; its values are found to be there.
    init(from reader: ImageReader, at offset: Int, _ form: TIFFForm) throws {
        tag = try reader.u16(at: offset)
        type = try reader.u16(at: offset + 2)
        count = try form.offset(at: offset + 4, in: reader)
        let inline = offset + 4 + form.offsetLength
        let length = count.times(Self.width(ofType: type))
        place = length <= form.offsetLength ? inline : try form.offset(at: inline, in: reader)
        try reader.require(length, at: place)
    }

    /// One of the values, which has to be a whole number.
    func value(at index: Int, in reader: ImageReader) throws -> Int {
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
