/// An AVIF is a row of boxes: `meta` describes items and where their data is, `moov` the tracks of an animation.
enum AVIFProbe {
    static func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize {
        let brands = try AVIFBrands(from: &reader)
        var needsItems = !brands.isSequence || brands.isImage
        var needsTracks = brands.isSequence
        var size: ImageSize?
        var offset = brands.end
        while needsItems || needsTracks {
            reader.part = needsItems ? "its description of items" : "its description of tracks"
            let box = try ISOBox(from: &reader, at: offset, end: nil)
            offset = box.end
            if needsItems, box.name == "meta" {
                size = try AVIFItems(from: &reader, in: box, isBranded: brands.isImage || brands.isSequence).size
                needsItems = false
            } else if needsTracks, box.name == "moov" {
                let canvas = try AVIFTracks.canvas(from: &reader, in: box)
                size = size ?? canvas
                needsTracks = false
            }
        }
        guard let size else { throw reader.malformed("it describes no picture") }
        return size
    }
}
