/// The extended form: a canvas, and on it one picture or the frames of an animation.
struct WebPCanvas {
    let size: ImageSize

    init(from reader: inout ImageReader, in header: RIFFChunk, end: Int) throws(ImageProbeError) {
        guard header.length >= 10 else { throw reader.malformed("its header is too short") }
        let start = header.start
        size = try reader.size(try reader.u24(at: start + 4) + 1, try reader.u24(at: start + 7) + 1)
        let isAnimated = try reader.u8(at: start) & 2 != 0
        var hasPicture = false
        var offset = header.next
        // Fewer bytes than a chunk's header are left over by some writers.
        while end - offset >= 8 {
            let chunk = try RIFFChunk(from: &reader, at: offset, end: end)
            if isAnimated, chunk.name == "ANMF" {
                try checkFrame(in: &reader, chunk)
                hasPicture = true
            } else if !isAnimated, chunk.name == "VP8 " || chunk.name == "VP8L" {
                guard try WebPProbe.bitstream(in: &reader, chunk) == size else {
                    throw reader.malformed("its picture and its canvas differ in size")
                }
                hasPicture = true
            }
            offset = chunk.next
        }
        guard hasPicture else { throw reader.malformed("there is no picture where one has to be") }
    }

    private func checkFrame(in reader: inout ImageReader, _ frame: RIFFChunk) throws(ImageProbeError) {
        guard frame.length >= 24 else { throw reader.malformed("a frame is too short") }
        let start = frame.start
        let (x, y) = (try reader.u24(at: start) * 2, try reader.u24(at: start + 3) * 2)
        let (width, height) = (try reader.u24(at: start + 6) + 1, try reader.u24(at: start + 9) + 1)
        guard x + width <= size.width, y + height <= size.height else { throw reader.malformed("a frame lies outside its canvas") }
        let end = start + frame.length
        var chunk = try RIFFChunk(from: &reader, at: start + 16, end: end)
        if chunk.name == "ALPH" { chunk = try RIFFChunk(from: &reader, at: chunk.next, end: end) }
        guard try WebPProbe.bitstream(in: &reader, chunk) == ImageSize(width: width, height: height) else {
            throw reader.malformed("a frame and its picture differ in size")
        }
    }
}
