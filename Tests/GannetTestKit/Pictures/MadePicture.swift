/// Pictures that tests make, byte by byte.
package enum MadePicture {
    /// The pixels of a PNG, in the order of rows.
    package enum Colours: UInt8, Sendable {
        case grey = 0
        case rgb = 2
        case rgba = 6

        var channels: Int {
            switch self {
            case .grey: 1
            case .rgb: 3
            case .rgba: 4
            }
        }
    }

    /// A whole PNG.
    /// - Parameter pixel: The channels of a pixel at a place.
    package static func png(
        _ width: Int, _ height: Int, _ colours: Colours = .rgb,
        _ pixel: (_ x: Int, _ y: Int) -> [UInt8] = { x, y in
            [UInt8(truncatingIfNeeded: x), UInt8(truncatingIfNeeded: y), 128]
        }
    ) -> [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(height * (1 + width * colours.channels))
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width { rows += pixel(x, y) }
        }
        return png(width, height, colours, zlib: Deflated.zlib(rows))
    }

    /// A PNG whose head says one size, and whose pixels are any bytes.
    package static func png(_ width: Int, _ height: Int, _ colours: Colours, zlib: [UInt8], isInterlaced: Bool = false) -> [UInt8] {
        let head = big(width) + big(height) + [8, colours.rawValue, 0, 0, isInterlaced ? 1 : 0]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", head) + chunk("IDAT", zlib) + chunk("IEND", [])
    }

    /// A GIF of one colour.
    /// - Parameter frames: Pictures of an animation.
    package static func gif(_ width: Int, _ height: Int, frames: Int = 1) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + little(width) + little(height) + [0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        for _ in 0..<frames {
            bytes += [0x2c, 0, 0, 0, 0] + little(width) + little(height) + [0, 2]
            // Each code of three bits: clear, then a pixel, so that the codes never grow.
            var bits: [UInt8] = []
            var (held, count) = (0, 0)
            func put(_ code: Int) {
                held |= code << count
                count += 3
                while count >= 8 {
                    bits.append(UInt8(held & 0xff))
                    held >>= 8
                    count -= 8
                }
            }
            for _ in 0..<(width * height) {
                put(4)
                put(0)
            }
            put(5)
            if count > 0 { bits.append(UInt8(held & 0xff)) }
            for start in stride(from: 0, to: bits.count, by: 255) {
                let block = bits[start..<min(start + 255, bits.count)]
                bytes += [UInt8(block.count)] + block
            }
            bytes.append(0)
        }
        return bytes + [0x3b]
    }

    /// The name of the camera in ``turned(_:orientation:)``.
    package static let camera = "Gannet Camera 18"

    /// The same JPEG with what a camera writes: its name, and how the picture is to be turned (1 to 8, as Exif counts).
    package static func turned(_ jpeg: [UInt8], orientation: UInt8) -> [UInt8] {
        // Two entries of 12 bytes behind their count, no further table, then the text.
        let tiff: [UInt8] =
            [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 2] + [0x01, 0x10, 0, 2, 0, 0, 0, UInt8(camera.utf8.count + 1), 0, 0, 0, 38]
            + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0] + [0, 0, 0, 0] + Array(camera.utf8) + [0]
        let body = Array("Exif".utf8) + [0, 0] + tiff
        return jpeg[..<2] + [0xff, 0xe1] + [UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 0xff)] + body + jpeg[2...]
    }

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let content = Array(name.utf8) + body
        return big(body.count) + content + big(Int(checksum(content)))
    }

    private static func big(_ number: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    private static func little(_ number: Int) -> [UInt8] { (0..<2).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

    /// CRC-32, as PNG has it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xffff_ffff
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
