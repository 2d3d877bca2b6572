/// A JPEG is a row of segments; the coded data of a scan lies between them and holds no marker but restarts. A thumbnail is inside an application
/// segment, which is passed by its length.
enum JPEGProbe {
    static func size(in reader: inout ImageReader) throws(ImageProbeError) -> ImageSize {
        var frame: JPEGFrame?
        var hasScan = false
        var offset = 2
        while true {
            reader.part = hasScan ? "its end-of-image marker" : "its picture"
            let marker = try nextMarker(in: &reader, from: &offset)
            switch marker {
            case 0x00, 0x01, 0xd0...0xd7:
                // A byte of the coded data that is no marker, and markers without a segment.
                continue
            case 0xd9:
                guard hasScan, let frame else { throw reader.malformed("it ends before a picture") }
                return try reader.size(frame.width, frame.height)
            case 0xd8: throw reader.malformed("a second image begins inside it")
            // Of the reserved markers none is known to lead a segment, so there is no going on behind one.
            case 0x02...0xbf, 0xc8, 0xde, 0xdf, 0xf0...0xfd: throw reader.malformed("it has a marker of unknown meaning")
            default: break
            }
            let length = try reader.u16(at: offset)
            guard length >= 2 else { throw reader.malformed("a segment has no length") }
            try reader.require(length, at: offset)
            switch marker {
            case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
                guard frame == nil else { throw reader.malformed("it has two frames") }
                frame = try JPEGFrame(from: &reader, at: offset, length: length)
            case 0xda:
                guard let components = frame?.components else { throw reader.malformed("its scan comes before its frame") }
                let count = try reader.u8(at: offset + 2)
                guard (1...components).contains(count), length == 6 + 2 * count else {
                    throw reader.malformed("a scan's header is damaged")
                }
                hasScan = true
            case 0xdc: try frame?.defineHeight(from: &reader, at: offset, length: length)
            default: break
            }
            offset += length
        }
    }

    /// The next marker's second byte. Whatever stands before a marker is passed, as decoders do, and so are fill bytes.
    private static func nextMarker(in reader: inout ImageReader, from offset: inout Int) throws(ImageProbeError) -> Int {
        guard let found = reader.source.firstIndex(of: 0xff, from: offset) else { throw reader.truncated() }
        offset = found + 1
        while true {
            let byte = try reader.u8(at: offset)
            offset += 1
            if byte != 0xff { return byte }
        }
    }
}
