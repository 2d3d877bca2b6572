/// A length, a name and the bytes between `start` and `end`.
struct ISOBox {
    let name: FourCC
    let start: Int
    let end: Int

    /// Reads the box at `offset`, which ends within its parent. Without a parent it may end anywhere: its user checks that it is all there.
    init(from reader: ImageReader, at offset: Int, end parent: Int?) throws {
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
    func require(in reader: ImageReader) throws { try reader.require(end - start, at: start) }

    /// The first child of that name, `skip` bytes into the box.
    func child(_ name: FourCC, in reader: ImageReader, skipping skip: Int = 0) throws -> ISOBox? {
        var offset = start.plus(skip)
        while offset < end {
            let box = try ISOBox(from: reader, at: offset, end: end)
            if box.name == name { return box }
            offset = box.end
        }
        return nil
    }

    /// As `child`, for one that has to be there.
    func need(_ name: FourCC, in reader: ImageReader, skipping skip: Int = 0) throws -> ISOBox {
        guard let box = try child(name, in: reader, skipping: skip) else { throw reader.malformed("a box that has to be there is not") }
        return box
    }
}

/// Takes one field of a box after the other and does not leave the box.
struct BoxCursor {
    private(set) var offset: Int
    let end: Int

    init(_ box: ISOBox) {
        offset = box.start
        end = box.end
    }

    var rest: Int { end - offset }

    /// The next unsigned number of 0, 1, 2, 3, 4 or 8 bytes.
    mutating func take(_ size: Int, from reader: ImageReader) throws -> Int {
        guard size <= rest else { throw reader.malformed("a box is too short for what it lists") }
        defer { offset += size }
        switch size {
        case 0: return 0
        case 1: return try reader.u8(at: offset)
        case 2: return try reader.u16(at: offset)
        case 3: return try reader.u24(at: offset)
        case 4: return try reader.u32(at: offset)
        default: return try reader.u64(at: offset)
        }
    }

    mutating func skip(_ size: Int, in reader: ImageReader) throws {
        guard size <= rest else { throw reader.malformed("a box is too short for what it lists") }
        offset += size
    }
}
