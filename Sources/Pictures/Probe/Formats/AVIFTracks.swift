/// The `moov` box of an animation: that the data of all samples of all its tracks is there, and how large the pictures are.
extension ImageReader {
    /// The size of the first track of AV1 pictures.
    mutating func avifCanvas(in box: ISOBox) throws -> ImageSize? {
        try box.require(in: self)
        var canvas: ImageSize?
        var offset = box.start
        while offset < box.end {
            let child = try ISOBox(from: self, at: offset, end: box.end)
            if child.name == "trak" {
                let media = try child.need("mdia", in: self)
                let samples = try media.need("minf", in: self).need("stbl", in: self)
                let size = try pictureSize(try samples.need("stsd", in: self))
                canvas = canvas ?? size
                try SampleTables(from: self, in: samples).check(in: &self)
            }
            offset = child.end
        }
        return canvas
    }

    /// From the first description of samples, behind version, flags and their number.
    private func pictureSize(_ descriptions: ISOBox) throws -> ImageSize? {
        guard let entry = try descriptions.child("av01", in: self, skipping: 8) else { return nil }
        var cursor = BoxCursor(entry)
        try cursor.skip(24, in: self)
        return try size(try cursor.take(2, from: self), try cursor.take(2, from: self))
    }
}

/// The places of a track's samples: chunks (`stco`, `co64`), the number of samples in each (`stsc`), and their sizes (`stsz`).
struct SampleTables {
    private let offsets: Table
    private let runs: Table
    private let sizes: Table
    private let sampleCount: Int
    /// The size of all samples, or zero when each has its own.
    private let commonSize: Int

    /// Entries that lie in a box one after the other.
    private struct Table {
        let start: Int
        let count: Int
        let width: Int

        /// The cursor stands at the number of entries.
        init(in reader: ImageReader, _ cursor: inout BoxCursor, width: Int) throws {
            count = try cursor.take(4, from: reader)
            start = cursor.offset
            self.width = width
            guard count * width <= cursor.rest else { throw reader.malformed("a table of samples is longer than its box") }
        }

        func at(_ index: Int) -> Int { start + index * width }
    }

    init(from reader: ImageReader, in samples: ISOBox) throws {
        var cursor = BoxCursor(try samples.need("stsz", in: reader))
        try cursor.skip(4, in: reader)
        commonSize = try cursor.take(4, from: reader)
        sizes = try Table(in: reader, &cursor, width: commonSize == 0 ? 4 : 0)
        sampleCount = sizes.count

        cursor = BoxCursor(try samples.need("stsc", in: reader))
        try cursor.skip(4, in: reader)
        runs = try Table(in: reader, &cursor, width: 12)

        let narrow = try samples.child("stco", in: reader)
        let width = narrow == nil ? 8 : 4
        if let narrow { cursor = BoxCursor(narrow) } else { cursor = BoxCursor(try samples.need("co64", in: reader)) }
        try cursor.skip(4, in: reader)
        offsets = try Table(in: reader, &cursor, width: width)
    }

    /// Throws unless every chunk is there whole.
    func check(in reader: inout ImageReader) throws {
        reader.part = "the end of its frames"
        var run = 0
        var sample = 0
        for chunk in 0..<(runs.count == 0 ? 0 : offsets.count) {
            // A run's first chunk is counted from 1.
            if run + 1 < runs.count, try reader.u32(at: runs.at(run + 1)) <= chunk + 1 { run += 1 }
            let count = min(try reader.u32(at: runs.at(run) + 4), sampleCount - sample)
            let length = try length(of: sample..<sample + count, in: reader)
            let offset = offsets.width == 8 ? try reader.u64(at: offsets.at(chunk)) : try reader.u32(at: offsets.at(chunk))
            try reader.require(length, at: offset)
            sample += count
        }
        guard sample == sampleCount else { throw reader.malformed("not all of its frames are in a chunk") }
    }

    private func length(of samples: Range<Int>, in reader: ImageReader) throws -> Int {
        guard commonSize == 0 else { return samples.count.times(commonSize) }
        var length = 0
        for sample in samples { length = length.plus(try reader.u32(at: sizes.at(sample))) }
        return length
    }
}
