#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads single records of a journal. Those that lie close together, as most do that are asked for one after the other, cost one read.
struct JournalReader {
    private let file: JournalFile
    private var window = [UInt8](repeating: 0, count: 128 * 1024)
    private var start = 0
    private var count = 0

    init(_ file: JournalFile) { self.file = file }

    /// The record at this place.
    mutating func record(at offset: Int) throws(OutputFailure) -> JobRecord? {
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
