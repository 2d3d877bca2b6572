/// A length, a name and the bytes between `start` and `end`.
struct ISOBox {
    let name: FourCC
    let start: Int
    let end: Int

    /// Reads the box at `offset`, which ends within its parent. Without a parent it may end anywhere: what uses it sees whether it is all there.
    init(from reader: inout ImageReader, at offset: Int, end parent: Int?) throws(ImageProbeError) {
        if let parent, parent - offset < 8 { throw reader.malformed("a box ends within a box") }
        let length = try reader.u32(at: offset)
        name = try reader.name(at: offset.plus(4))
        switch length {
        case 0:
            // To the end of what there is.
            start = offset + 8
            end = parent ?? reader.source.count
        case 1:
            start = offset + 16
            end = offset.plus(try reader.u64(at: offset + 8))
        default:
            start = offset + 8
            end = offset + length
        }
        guard end >= start, end <= parent ?? .max else { throw reader.malformed("a box has an impossible length") }
    }

    /// Throws unless all of it is there.
    func require(in reader: borrowing ImageReader) throws(ImageProbeError) { try reader.require(end - start, at: start) }

    /// The first child of that name, `skip` bytes into the box.
    func child(_ name: FourCC, in reader: inout ImageReader, skipping skip: Int = 0) throws(ImageProbeError) -> ISOBox? {
        var offset = start.plus(skip)
        while offset < end {
            let box = try ISOBox(from: &reader, at: offset, end: end)
            if box.name == name { return box }
            offset = box.end
        }
        return nil
    }

    /// The same, of a child without which the box means nothing.
    func need(_ name: FourCC, in reader: inout ImageReader, skipping skip: Int = 0) throws(ImageProbeError) -> ISOBox {
        guard let box = try child(name, in: &reader, skipping: skip) else { throw reader.malformed("a box that has to be there is not") }
        return box
    }
}
