internal import Glibc

/// The bytes of an image by their offsets. Nothing is read beyond the end, whatever the offset.
struct ByteSource {
    /// They must outlive this value.
    let bytes: UnsafeRawBufferPointer

    var count: Int { bytes.count }

    func holds(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && length <= count && offset <= count - length
    }

    func byte(at offset: Int) -> UInt8? { holds(1, at: offset) ? bytes[offset] : nil }

    /// The unsigned number of `size` bytes, seven at most.
    func number(at offset: Int, size: Int, _ order: ByteOrder) -> Int? {
        guard holds(size, at: offset) else { return nil }
        return (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * (order == .big ? size - 1 - $1 : $1)) }
    }

    /// The offset of the byte's next occurrence.
    func firstIndex(of byte: UInt8, from offset: Int) -> Int? {
        guard holds(1, at: offset), let base = bytes.baseAddress, let found = memchr(base + offset, Int32(byte), count - offset) else {
            return nil
        }
        return UnsafeRawPointer(found) - base
    }
}

/// The byte of a number that comes first: the most significant one, or the least.
enum ByteOrder {
    case big, little
}
