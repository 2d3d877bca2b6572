/// The `moov` box of an animation: that the data of all samples of all its tracks is there, and how large the pictures are.
enum AVIFTracks {
    /// The size of the first track of AV1 pictures.
    static func canvas(from reader: inout ImageReader, in box: ISOBox) throws(ImageProbeError) -> ImageSize? {
        try box.require(in: reader)
        var canvas: ImageSize?
        var offset = box.start
        while offset < box.end {
            let child = try ISOBox(from: &reader, at: offset, end: box.end)
            if child.name == "trak" {
                let media = try child.need("mdia", in: &reader)
                let samples = try media.need("minf", in: &reader).need("stbl", in: &reader)
                let size = try pictureSize(in: &reader, try samples.need("stsd", in: &reader))
                canvas = canvas ?? size
                try SampleTables(from: &reader, in: samples).check(in: &reader)
            }
            offset = child.end
        }
        return canvas
    }

    /// From the first description of samples, behind version, flags and their number.
    private static func pictureSize(in reader: inout ImageReader, _ descriptions: ISOBox) throws(ImageProbeError) -> ImageSize? {
        guard let entry = try descriptions.child("av01", in: &reader, skipping: 8) else { return nil }
        var cursor = BoxCursor(entry)
        try cursor.skip(24, in: reader)
        return try reader.size(try cursor.take(2, from: &reader), try cursor.take(2, from: &reader))
    }
}
