internal import GannetBase
internal import GannetHTTP

/// An open file of lines: a journal, or a manifest.
final class LineFile: Sendable {
    let path: String
    let descriptor: Int32

    init(_ path: String, _ flags: Int32 = O_RDONLY | O_NONBLOCK) throws {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StorageFailure.refused("file", path, flags & O_CREAT == 0 ? "read" : "opened") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Nil for what is no regular file.
    var size: Int? {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.isFile ? Int(status.st_size) : nil
    }

    /// Writes all of the bytes, or restores the file's length.
    func write(_ bytes: [UInt8], at start: Int) throws {
        if Descriptor.write(bytes, to: descriptor, at: start) { return }
        let failure = StorageFailure.refused("file", path, "written")
        try truncate(to: start)
        throw failure
    }

    func truncate(to size: Int) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw StorageFailure.refused("file", path, "written") }
    }
}

/// Reads lines of a file, in constant memory: one after the other, or from given places. Lines that lie close together cost one read.
struct LineReader {
    private let file: LineFile
    private let end: Int
    /// The place of the next line.
    private(set) var place: Int
    /// Whether the last line may have no break.
    private let isLoose: Bool
    private var window: [UInt8]
    /// The part of the file that is in the window.
    private var held = 0..<0

    /// No record is so long, and no row of a manifest that anybody reads.
    static let longest = 256 * 1024

    /// - Parameter bytes: How many are read at once. For a longer line the window grows.
    init(_ file: LineFile, from start: Int = 0, to end: Int = .max, isLoose: Bool = false, window bytes: Int = longest) {
        (self.file, self.place, self.end, self.isLoose) = (file, start, end, isLoose)
        window = [UInt8](repeating: 0, count: bytes)
    }

    /// Calls `body` with the place of the next line and the line without its break. False at the end, which may be within a line.
    /// - Parameter head: Gets the beginning of a line that is too long for `body`.
    mutating func next(
        _ body: (Int, UnsafeRawBufferPointer) throws -> Void, head: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws -> Bool {
        let start = place
        guard start < end, let next = try line(at: start, { try body(start, $0) }, head: head) else { return false }
        place = next
        return true
    }

    /// Calls `body` with the line at this place, and returns the place of the line behind it; nil if the file ends before the line does.
    mutating func line(
        at start: Int, _ body: (UnsafeRawBufferPointer) throws -> Void, head: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws -> Int? {
        var found = length(at: start)
        if found == nil {
            try fill(from: start)
            found = length(at: start)
        }
        if found == nil, held.count == window.count, window.count < Self.longest {
            window = [UInt8](repeating: 0, count: Self.longest)
            try fill(from: start)
            found = length(at: start)
        }
        if let length = found {
            let first = start - held.lowerBound
            try window.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[first..<(first + length)])) }
            return start + length + 1
        }
        guard held.count == window.count else { return nil }
        window.withUnsafeBytes { head($0) }
        while held.count == window.count {
            let rest = held.upperBound
            try fill(from: rest)
            if let length = length(at: rest) { return rest + length + 1 }
        }
        return nil
    }

    /// The length of the line at this place, if the window holds all of it.
    private func length(at start: Int) -> Int? {
        guard held.contains(start) else { return nil }
        let count = held.upperBound - start
        let found: Int? = window.withUnsafeBytes { bytes in
            guard let line = bytes.baseAddress.map({ $0 + (start - held.lowerBound) }), let end = memchr(line, 0x0a, count) else {
                return nil
            }
            return UnsafeRawPointer(end) - line
        }
        return found ?? (isLoose && held.count < window.count ? count : nil)
    }

    private mutating func fill(from start: Int) throws {
        guard let count = window.withUnsafeMutableBytes({ Descriptor.read(into: $0, from: file.descriptor, at: start) }) else {
            throw StorageFailure.refused("file", file.path, "read")
        }
        held = start..<(start + count)
    }
}
