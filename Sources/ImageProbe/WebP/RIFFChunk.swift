/// A name, a length and the bytes between `start` and `end`.
struct RIFFChunk {
    let name: FourCC
    let start: Int
    let length: Int

    /// Where the next one begins.
    var next: Int { start + length + length & 1 }

    /// Reads the chunk at `offset`, which lies in a container that ends at `end` and was found to be there whole.
    init(from reader: inout ImageReader, at offset: Int, end: Int) throws(ImageProbeError) {
        guard end - offset >= 8 else { throw reader.malformed("its container ends within a chunk") }
        name = try reader.name(at: offset)
        length = try reader.u32(at: offset + 4)
        start = offset + 8
        guard length <= end - start else { throw reader.malformed("a chunk is longer than its container") }
    }
}
