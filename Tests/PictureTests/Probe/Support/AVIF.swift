@testable import GannetPictures

/// Parts of an AVIF with one item, number 1, of 5 by 4 pixels.
enum AVIF {
    static func box(_ name: String, _ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap { $0 }
        return .big(8 + content.count, 4) + Array(name.utf8) + content
    }

    /// A box that begins with its version and three bytes of flags.
    static func full(_ name: String, version: UInt8 = 0, flags: UInt8 = 0, _ parts: [UInt8]...) -> [UInt8] {
        box(name, [version, 0, 0, flags] + parts.flatMap { $0 })
    }

    static let type = box("ftyp", Array("avif".utf8) + [0, 0, 0, 0] + Array("avif".utf8))
    static let primary = full("pitm", .big(1, 2))
    static let size = full("ispe", .big(5, 4), .big(4, 4))
    static let codec = box("av1C", [0x81, 0, 0, 0])
    static let association = full("ipma", .big(1, 4), .big(1, 2), [2, 1, 0x82])
    static let properties = box("iprp", box("ipco", size, codec), association)

    /// Where items are, behind the box's version and flags: offsets and lengths of 4 bytes, and for each item its number, how its pieces are
    /// found, and the pieces.
    static func locations(version: UInt8 = 1, sizes: [UInt8] = [0x44, 0], _ items: [[UInt8]]) -> [UInt8] {
        full("iloc", version: version, sizes, .big(items.count, version == 2 ? 4 : 2), items.flatMap { $0 })
    }

    static func item(method: Int, pieces: [(offset: Int, length: Int)]) -> [UInt8] {
        [1, method, 0, pieces.count].flatMap { [UInt8].big($0, 2) }
            + pieces.flatMap { [$0.offset, $0.length] }.flatMap { [UInt8].big($0, 4) }
    }
}
