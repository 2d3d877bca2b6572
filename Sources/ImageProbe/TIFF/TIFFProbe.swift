/// A TIFF is a chain of directories, one for each page, and what they point to anywhere in the file.
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
    static func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize {
        var probe = try TIFFProbe(&reader)
        var size: ImageSize?
        while let place = probe.pending.popLast() {
            let directory = try probe.directory(in: &reader, at: place)
            if size == nil { size = try directory.size(in: &reader) }
        }
        guard let size else { throw reader.malformed("it has no directory") }
        return size
    }

    private init(_ reader: inout ImageReader) throws(ImageProbeError) {
        form = try TIFFForm(from: &reader)
        budget = reader.source.count.times(2)
        try add(form.first, isPage: true, in: reader)
    }

    /// Reads a directory, sees to it that all it points to is there, and notes the directories it names.
    private mutating func directory(in reader: inout ImageReader, at place: Place) throws(ImageProbeError) -> TIFFDirectory {
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
            for index in 0..<field.count { try add(try field.value(at: index, in: &reader), isPage: false, in: reader) }
        }
        if place.isPage { try add(directory.next, isPage: true, in: reader) }
        return directory
    }

    private mutating func add(_ offset: Int, isPage: Bool, in reader: borrowing ImageReader) throws(ImageProbeError) {
        guard offset > 0 else { return }
        directories += 1
        guard directories <= Self.limit else { throw reader.malformed("it has more than \(Self.limit) directories") }
        pending.append(Place(offset: offset, isPage: isPage))
    }

    private mutating func spend(_ bytes: Int, in reader: borrowing ImageReader) throws(ImageProbeError) {
        guard bytes <= budget else { throw reader.malformed("its directories lie upon one another") }
        budget -= bytes
    }
}
