/// Run-length coded rows, up to the code that ends a bitmap.
enum BitmapRuns {
    static func pass(in reader: inout ImageReader, from start: Int, pixelsPerByte: Int) throws(ImageProbeError) {
        var offset = start
        while true {
            let (count, value) = (try reader.u8(at: offset), try reader.u8(at: offset + 1))
            offset += 2
            guard count == 0 else { continue }
            switch value {
            case 0: continue
            case 1: return
            case 2: offset += 2
            default:
                // Pixels as they are, in a multiple of two bytes.
                let bytes = (value + pixelsPerByte - 1) / pixelsPerByte
                offset += bytes + bytes & 1
            }
        }
    }
}
