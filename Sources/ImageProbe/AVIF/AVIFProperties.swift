/// The `iprp` box: a list of properties (`ipco`), and which of them each item has (`ipma`).
struct AVIFProperties {
    private(set) var width: Int?
    private(set) var height: Int?
    /// Whether any item is coded as AV1.
    private(set) var hasCodec = false

    init(from reader: inout ImageReader, in box: ISOBox, item: Int) throws(ImageProbeError) {
        let list = try box.need("ipco", in: &reader)
        var indices: Set<Int> = []
        var offset = box.start
        while offset < box.end {
            let child = try ISOBox(from: &reader, at: offset, end: box.end)
            if child.name == "ipma", indices.isEmpty { indices = try Self.indices(of: item, in: &reader, child) }
            offset = child.end
        }
        offset = list.start
        var index = 0
        while offset < list.end {
            let property = try ISOBox(from: &reader, at: offset, end: list.end)
            index += 1
            if property.name == "av1C" { hasCodec = true }
            if property.name == "ispe", width == nil, indices.contains(index) {
                var cursor = BoxCursor(property)
                try cursor.skip(4, in: reader)
                width = try cursor.take(4, from: &reader)
                height = try cursor.take(4, from: &reader)
            }
            offset = property.end
        }
    }

    /// The properties of one item, by their places in the list, of which the first is 1.
    private static func indices(of item: Int, in reader: inout ImageReader, _ box: ISOBox) throws(ImageProbeError) -> Set<Int> {
        var cursor = BoxCursor(box)
        let version = try cursor.take(1, from: &reader)
        let isWide = try cursor.take(3, from: &reader) & 1 == 1
        for _ in 0..<(try cursor.take(4, from: &reader)) {
            let id = try cursor.take(version == 0 ? 2 : 4, from: &reader)
            let count = try cursor.take(1, from: &reader)
            guard id == item else {
                try cursor.skip(isWide ? 2 * count : count, in: reader)
                continue
            }
            var indices: Set<Int> = []
            for _ in 0..<count {
                // The topmost bit says that the property is essential.
                indices.insert(isWide ? try cursor.take(2, from: &reader) & 0x7fff : try cursor.take(1, from: &reader) & 0x7f)
            }
            return indices
        }
        return []
    }
}
