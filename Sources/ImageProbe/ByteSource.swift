#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Bytes by their offsets: all of them in memory, or a file through windows. Nothing is read beyond the end, whatever the offset.
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

    /// Why the file could not be read to its end.
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

/// The byte of a number that comes first: the most significant one, or the least.
enum ByteOrder {
    case big, little
}

/// A file of which a few pieces are in memory. It is read, not mapped: a mapped file that shrinks, or a disk that fails, would end the process.
final class FileWindows {
    /// How long the file was when it was opened.
    let count: Int
    /// Set by the first read that failed; nothing is read after it.
    private(set) var failure: ImageProbeError?
    private let descriptor: Int32
    private var windows: [Window] = []
    private var clock = 0

    private struct Window {
        let start: Int
        let bytes: UnsafeMutableRawBufferPointer
        var lastUse: Int
    }

    /// Tables that are read side by side (a TIFF's strips and their lengths, a film's three sample tables) each keep a window.
    private static let limit = 4
    private static let size = 16_384

    init(path: String) throws {
        var opened: Int32
        // A pipe without a writer would block here for good.
        repeat { opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) } while opened < 0 && errno == EINTR
        guard opened >= 0 else { throw Self.unreadable(errno) }
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            let code = errno
            close(opened)
            throw Self.unreadable(code)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw ImageProbeError.unreadable(reason: "it is not a regular file")
        }
        descriptor = opened
        count = Int(status.st_size)
    }

    deinit {
        close(descriptor)
        for window in windows { window.bytes.deallocate() }
    }

    /// The piece that holds the offset, valid until the next call.
    func window(at offset: Int) -> (bytes: UnsafeRawBufferPointer, start: Int)? {
        guard failure == nil, offset >= 0, offset < count else { return nil }
        clock += 1
        let start = offset - offset % Self.size
        if let index = windows.firstIndex(where: { $0.start == start }) {
            windows[index].lastUse = clock
            return (UnsafeRawBufferPointer(windows[index].bytes), start)
        }
        let buffer = spareBuffer()
        let length = min(Self.size, count - start)
        guard fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]), from: start) else {
            buffer.deallocate()
            return nil
        }
        let bytes = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: length)
        windows.append(Window(start: start, bytes: bytes, lastUse: clock))
        return (UnsafeRawBufferPointer(bytes), start)
    }

    private func spareBuffer() -> UnsafeMutableRawBufferPointer {
        if windows.count == Self.limit, let oldest = windows.indices.min(by: { windows[$0].lastUse < windows[$1].lastUse }) {
            return UnsafeMutableRawBufferPointer(start: windows.remove(at: oldest).bytes.baseAddress, count: Self.size)
        }
        return .allocate(byteCount: Self.size, alignment: 16)
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from start: Int) -> Bool {
        var done = 0
        while done < buffer.count {
            let result = pread(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(start + done))
            if result > 0 {
                done += result
            } else if result == 0 {
                failure = .unreadable(reason: "it became shorter meanwhile")
                return false
            } else if errno != EINTR {
                failure = Self.unreadable(errno)
                return false
            }
        }
        return true
    }

    private static func unreadable(_ code: Int32) -> ImageProbeError { .unreadable(reason: String(cString: strerror(code))) }
}
