/// A JPEG is a row of segments; the coded data of a scan lies between them and holds no marker but restarts. A thumbnail is inside an application
/// segment, which is passed by its length.
extension ImageReader {
    mutating func jpegSize() throws -> ImageSize {
        var frame: JPEGFrame?
        var hasScan = false
        var offset = 2
        while true {
            part = hasScan ? "its end-of-image marker" : "its picture"
            let marker = try nextMarker(from: &offset)
            switch marker {
            case 0x00, 0x01, 0xd0...0xd7:
                // A byte of the coded data that is no marker, and markers without a segment.
                continue
            case 0xd9:
                guard hasScan, let frame else { throw malformed("it ends before a picture") }
                return try size(frame.width, frame.height)
            case 0xd8: throw malformed("a second image begins inside it")
            // No reserved marker is known to lead a segment, so the place of the next one is unknown.
            case 0x02...0xbf, 0xc8, 0xde, 0xdf, 0xf0...0xfd: throw malformed("it has a marker of unknown meaning")
            default: break
            }
            let length = try u16(at: offset)
            guard length >= 2 else { throw malformed("a segment has no length") }
            try require(length, at: offset)
            switch marker {
            case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
                guard frame == nil else { throw malformed("it has two frames") }
                frame = try JPEGFrame(from: self, at: offset, length: length)
            case 0xda:
                guard let components = frame?.components else { throw malformed("its scan comes before its frame") }
                let count = try u8(at: offset + 2)
                guard (1...components).contains(count), length == 6 + 2 * count else {
                    throw malformed("a scan's header is damaged")
                }
                hasScan = true
            case 0xdc: try frame?.defineHeight(from: self, at: offset, length: length)
            default: break
            }
            offset += length
        }
    }

    /// The next marker's second byte. Bytes before a marker are passed, as decoders do, and so are fill bytes.
    private func nextMarker(from offset: inout Int) throws -> Int {
        guard let found = source.firstIndex(of: 0xff, from: offset) else { throw truncated() }
        offset = found + 1
        while true {
            let byte = try u8(at: offset)
            offset += 1
            if byte != 0xff { return byte }
        }
    }
}

/// The header of the picture proper (SOF).
struct JPEGFrame {
    let width: Int
    /// Zero until the end of the first scan tells it, which happens in files of scanners that do not know the length of their paper.
    private(set) var height: Int
    let components: Int

    /// Reads it from the segment whose length stands at `offset`.
    init(from reader: ImageReader, at offset: Int, length: Int) throws {
        guard length >= 8 else { throw reader.malformed("the header of its frame is damaged") }
        let precision = try reader.u8(at: offset + 2)
        height = try reader.u16(at: offset + 3)
        width = try reader.u16(at: offset + 5)
        components = try reader.u8(at: offset + 7)
        guard (2...16).contains(precision), components > 0, length == 8 + 3 * components else {
            throw reader.malformed("the header of its frame is damaged")
        }
        _ = try reader.size(width, max(height, 1))
    }

    /// Takes the height from a DNL segment, unless it is known.
    mutating func defineHeight(from reader: ImageReader, at offset: Int, length: Int) throws {
        guard length == 4 else { throw reader.malformed("its number of lines is damaged") }
        if height == 0 { height = try reader.u16(at: offset + 2) }
    }
}
