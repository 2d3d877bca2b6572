/// An AVIF is a row of boxes: `meta` describes items and where their data is, `moov` the tracks of an animation.
extension ImageReader {
    mutating func avifSize() throws -> ImageSize {
        let brands = try avifBrands()
        var needsItems = !brands.isSequence || brands.isImage
        var needsTracks = brands.isSequence
        var size: ImageSize?
        var offset = brands.end
        while needsItems || needsTracks {
            part = needsItems ? "its description of items" : "its description of tracks"
            let box = try ISOBox(from: self, at: offset, end: nil)
            offset = box.end
            if needsItems, box.name == "meta" {
                size = try avifItems(in: box, isBranded: brands.isImage || brands.isSequence)
                needsItems = false
            } else if needsTracks, box.name == "moov" {
                let canvas = try avifCanvas(in: box)
                size = size ?? canvas
                needsTracks = false
            }
        }
        guard let size else { throw malformed("it describes no picture") }
        return size
    }

    /// Brands of still pictures and sequences that do not say how these are coded.
    private static let genericBrands: Set<FourCC> = ["mif1", "mif2", "msf1", "miaf"]

    /// The first box (ftyp), and where the next one begins. Other media begin with such a box too.
    private mutating func avifBrands() throws -> (isImage: Bool, isSequence: Bool, end: Int) {
        let major = try name(at: 8)
        let isGeneric = Self.genericBrands.contains(major)
        guard let length = source.number(at: 0, size: 4, .big), length >= 16, length.isMultiple(of: 4),
            isGeneric || major == "avif" || major == "avis" || source.holds(length, at: 0)
        else { throw ImageProbeError.notAnImage(Resemblance(ofBrand: major)) }
        part = "the rest of its file type"
        try require(length, at: 0)
        var (isImage, isSequence) = (false, false)
        // Behind the major brand is its version.
        for offset in [8] + stride(from: 16, to: length, by: 4) {
            let brand = try name(at: offset)
            if brand == "avif" { isImage = true }
            if brand == "avis" { isSequence = true }
        }
        guard isImage || isSequence || isGeneric else { throw ImageProbeError.notAnImage(Resemblance(ofBrand: major)) }
        return (isImage, isSequence, length)
    }

    /// The `meta` box: which item is the picture, how large it is, and that the data of all items is there.
    private mutating func avifItems(in meta: ISOBox, isBranded: Bool) throws -> ImageSize {
        try meta.require(in: self)
        // Behind its version and flags.
        let properties = try meta.need("iprp", in: self, skipping: 4)
        let list = try avifProperties(in: properties, item: primaryItem(meta))
        guard list.hasCodec else {
            // Other codecs share the brand, and this is one of theirs.
            throw isBranded ? malformed("its codec is not described") : ImageProbeError.notAnImage(.otherImage)
        }
        guard let width = list.width, let height = list.height else { throw malformed("the size of its picture is not described") }
        let size = try self.size(width, height)
        try AVIFLocations.check(in: &self, meta)
        return size
    }

    private func primaryItem(_ meta: ISOBox) throws -> Int {
        var cursor = BoxCursor(try meta.need("pitm", in: self, skipping: 4))
        let version = try cursor.take(1, from: self)
        try cursor.skip(3, in: self)
        return try cursor.take(version == 0 ? 2 : 4, from: self)
    }

    /// The `iprp` box: a list of properties (`ipco`), and which of them each item has (`ipma`). It tells an item's sides, and whether any item is
    /// coded as AV1.
    private func avifProperties(in box: ISOBox, item: Int) throws -> (width: Int?, height: Int?, hasCodec: Bool) {
        var (width, height, hasCodec): (Int?, Int?, Bool) = (nil, nil, false)
        let list = try box.need("ipco", in: self)
        var indices: Set<Int> = []
        var offset = box.start
        while offset < box.end {
            let child = try ISOBox(from: self, at: offset, end: box.end)
            if child.name == "ipma", indices.isEmpty { indices = try propertyIndices(of: item, child) }
            offset = child.end
        }
        offset = list.start
        var index = 0
        while offset < list.end {
            let property = try ISOBox(from: self, at: offset, end: list.end)
            index += 1
            if property.name == "av1C" { hasCodec = true }
            if property.name == "ispe", width == nil, indices.contains(index) {
                var cursor = BoxCursor(property)
                try cursor.skip(4, in: self)
                width = try cursor.take(4, from: self)
                height = try cursor.take(4, from: self)
            }
            offset = property.end
        }
        return (width, height, hasCodec)
    }

    /// The properties of one item, by their places in the list, of which the first is 1.
    private func propertyIndices(of item: Int, _ box: ISOBox) throws -> Set<Int> {
        var cursor = BoxCursor(box)
        let version = try cursor.take(1, from: self)
        let isWide = try cursor.take(3, from: self) & 1 == 1
        for _ in 0..<(try cursor.take(4, from: self)) {
            let id = try cursor.take(version == 0 ? 2 : 4, from: self)
            let count = try cursor.take(1, from: self)
            guard id == item else {
                try cursor.skip(isWide ? 2 * count : count, in: self)
                continue
            }
            var indices: Set<Int> = []
            for _ in 0..<count {
                // The topmost bit says that the property is essential.
                indices.insert(isWide ? try cursor.take(2, from: self) & 0x7fff : try cursor.take(1, from: self) & 0x7f)
            }
            return indices
        }
        return []
    }
}

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

    static func check(in reader: inout ImageReader, _ meta: ISOBox) throws {
        var cursor = BoxCursor(try meta.need("iloc", in: reader, skipping: 4))
        let data = try meta.child("idat", in: reader, skipping: 4)
        var locations = try AVIFLocations(from: reader, &cursor, inside: data.map { $0.end - $0.start } ?? 0)
        for _ in 0..<(try cursor.take(locations.version == 2 ? 4 : 2, from: reader)) { try locations.checkItem(in: &reader, &cursor) }
        guard locations.hasData else { throw reader.malformed("it says of no item where its data is") }
    }

    private init(from reader: ImageReader, _ cursor: inout BoxCursor, inside: Int) throws {
        version = try cursor.take(1, from: reader)
        try cursor.skip(3, in: reader)
        let sizes = try cursor.take(2, from: reader)
        (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        indexSize = version == 0 ? 0 : sizes & 15
        self.inside = inside
        guard version <= 2, [offsetSize, lengthSize, baseSize, indexSize].allSatisfy({ [0, 4, 8].contains($0) }) else {
            throw reader.malformed("its list of locations is of an unknown form")
        }
    }

    private mutating func checkItem(in reader: inout ImageReader, _ cursor: inout BoxCursor) throws {
        try cursor.skip(version == 2 ? 4 : 2, in: reader)
        let method = version == 0 ? 0 : try cursor.take(2, from: reader) & 15
        guard try cursor.take(2, from: reader) == 0 else { throw reader.malformed("its data is in another file") }
        let base = try cursor.take(baseSize, from: reader)
        let count = try cursor.take(2, from: reader)
        // Pieces whose description takes no room are all the same one, however many are said to be there.
        let isBare = offsetSize + lengthSize + indexSize == 0
        for _ in 0..<(isBare ? min(count, 1) : count) {
            try cursor.skip(indexSize, in: reader)
            let offset = base.plus(try cursor.take(offsetSize, from: reader))
            let length = try cursor.take(lengthSize, from: reader)
            try check(in: &reader, method: method, offset: offset, length: length)
            hasData = true
        }
    }

    private func check(in reader: inout ImageReader, method: Int, offset: Int, length: Int) throws {
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
