internal import GannetBase

/// A file whose lines are read.
protocol LineSource: Sendable {
    /// Returns the number of bytes that were read, fewer than asked for at the end of the file.
    func read(into buffer: inout [UInt8], at position: Int, count: Int, from offset: Int) throws -> Int
}

/// Reads a journal or a manifest line by line, in constant memory.
struct LineCursor {
    private let file: any LineSource
    private let end: Int
    private var buffer = [UInt8](repeating: 0, count: chunk)
    /// The unread part of the buffer, and its place in the file.
    private var rest = 0..<0
    private(set) var offset: Int

    private static let chunk = 256 * 1024

    init(_ file: some LineSource, from start: Int, to end: Int) {
        self.file = file
        self.end = end
        offset = start
    }

    /// Calls `body` with the place of the next line and the line without its break. False at the end, which may be within a line.
    mutating func next(_ body: (Int, UnsafeRawBufferPointer) -> Void) throws -> Bool {
        var isOverlong = false
        while true {
            let line = rest
            let length = buffer.withUnsafeBytes { bytes -> Int? in
                guard let base = bytes.baseAddress, let found = memchr(base + line.lowerBound, 0x0a, line.count) else { return nil }
                return UnsafeRawPointer(found) - base - line.lowerBound
            }
            if let length {
                let start = offset
                rest = (line.lowerBound + length + 1)..<line.upperBound
                offset += length + 1
                // No record is as long as the buffer, and no row of a manifest that anybody reads.
                if isOverlong {
                    isOverlong = false
                    continue
                }
                buffer.withUnsafeBytes { body(start, UnsafeRawBufferPointer(rebasing: $0[line.lowerBound..<(line.lowerBound + length)])) }
                return true
            }
            if rest.count == buffer.count {
                isOverlong = true
                offset += rest.count
                rest = 0..<0
            }
            guard try fill() else { return false }
        }
    }

    private mutating func fill() throws -> Bool {
        let held = rest.count
        if rest.lowerBound > 0 {
            buffer.replaceSubrange(0..<held, with: Array(buffer[rest]))
            rest = 0..<held
        }
        let most = min(buffer.count - held, end - offset - held)
        guard most > 0 else { return false }
        let count = try file.read(into: &buffer, at: held, count: most, from: offset + held)
        rest = 0..<(held + count)
        return count > 0
    }
}

/// Reads single records of a journal. Records that lie close together cost one read.
package struct JournalReader {
    private let file: JournalFile
    private var window = [UInt8](repeating: 0, count: 128 * 1024)
    private var start = 0
    private var count = 0

    init(_ file: JournalFile) { self.file = file }

    package mutating func record(at offset: Int) throws -> JobRecord? {
        if let record = known(at: offset) { return record }
        count = try file.read(into: &window, at: 0, count: window.count, from: offset)
        start = offset
        return known(at: offset)
    }

    private func known(at offset: Int) -> JobRecord? {
        guard offset >= start, offset < start + count else { return nil }
        return window.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[(offset - start)..<count])
            guard let base = rest.baseAddress, let found = memchr(base, 0x0a, rest.count) else { return nil }
            return JobRecord(line: UnsafeRawBufferPointer(rebasing: rest[..<(UnsafeRawPointer(found) - base)]))
        }
    }
}
