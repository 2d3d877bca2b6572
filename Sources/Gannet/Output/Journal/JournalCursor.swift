#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Goes through a journal line by line, in memory that does not grow with it.
struct JournalCursor {
    private let file: JournalFile
    private let end: Int
    private var buffer = [UInt8](repeating: 0, count: chunk)
    /// What of the buffer is read and not yet gone through, and where in the file it begins.
    private var rest = 0..<0
    private(set) var offset: Int

    private static let chunk = 256 * 1024

    init(_ file: JournalFile, from start: Int, to end: Int) {
        self.file = file
        self.end = end
        offset = start
    }

    /// Shows the next line, without its break, and where it begins. False at the end, also where that is in the middle of a line.
    mutating func next(_ body: (Int, UnsafeRawBufferPointer) -> Void) throws(OutputFailure) -> Bool {
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
                // No record is as long as the buffer: what is, is none.
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

    private mutating func fill() throws(OutputFailure) -> Bool {
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
