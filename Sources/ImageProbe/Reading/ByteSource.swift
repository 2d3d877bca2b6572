#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Bytes by their offsets, all of them in memory or a file's through windows. Nothing is read beyond the end, whatever offset is asked for.
struct ByteSource: ~Copyable {
    /// How many bytes there are; of a file, how many there were when it was opened.
    let count: Int
    /// The bytes from `start` on, within which most reads fall.
    private var window: UnsafeRawBufferPointer
    private var start = 0
    private let file: FileWindows?

    /// The bytes must outlive this value.
    init(_ bytes: UnsafeRawBufferPointer) {
        count = bytes.count
        window = bytes
        file = nil
    }

    init(_ file: FileWindows) {
        count = file.count
        window = UnsafeRawBufferPointer(start: nil, count: 0)
        self.file = file
    }

    /// Why bytes that should be there could not be had.
    var failure: ImageProbeError? { file?.failure }

    func holds(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && length <= count && offset <= count - length
    }

    mutating func byte(at offset: Int) -> UInt8? {
        guard holds(1, at: offset), isInWindow(offset) || move(to: offset) else { return nil }
        return window[offset - start]
    }

    /// The unsigned number of `size` bytes, seven at most.
    mutating func number(at offset: Int, size: Int, _ order: ByteOrder) -> Int? {
        guard holds(size, at: offset) else { return nil }
        var value = 0
        for index in 0..<size {
            guard let byte = byte(at: offset + index) else { return nil }
            value |= Int(byte) << (8 * (order == .big ? size - 1 - index : index))
        }
        return value
    }

    /// Where the byte occurs next.
    mutating func firstIndex(of byte: UInt8, from offset: Int) -> Int? {
        var offset = offset
        while holds(1, at: offset), isInWindow(offset) || move(to: offset) {
            guard let base = window.baseAddress else { return nil }
            let rest = base + (offset - start)
            if let found = memchr(rest, Int32(byte), window.count - (offset - start)) { return offset + (UnsafeRawPointer(found) - rest) }
            offset = start + window.count
        }
        return nil
    }

    private func isInWindow(_ offset: Int) -> Bool { offset >= start && offset - start < window.count }

    private mutating func move(to offset: Int) -> Bool {
        guard let file, let found = file.window(at: offset) else { return false }
        window = found.bytes
        start = found.start
        return isInWindow(offset)
    }
}
