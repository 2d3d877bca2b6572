internal import GannetBase

/// The lines of one file's CDXJ index, in memory until the file is complete.
struct CaptureIndex {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    /// The memory that the lines take.
    var size: Int { bytes.count + starts.count * MemoryLayout<Int>.stride }
    var count: Int { starts.count }

    mutating func add(_ capture: Capture, offset: Int, length: Int, file: String) {
        starts.append(bytes.count)
        bytes += "\(SURT.key(capture.url)) \(capture.timestamp) ".utf8
        // pywb keeps base 32 of SHA-1 without a name in front, and looks for a revisit's original by this text.
        let digest = capture.digest.map { $0.hasPrefix("sha1:") ? String($0.dropFirst(5)) : $0 } ?? "-"
        let values = [
            ("url", capture.url), ("mime", capture.mime), ("status", capture.status), ("digest", digest), ("length", "\(length)"),
            ("offset", "\(offset)"), ("filename", file),
        ]
        for (index, (name, value)) in values.enumerated() {
            bytes += (index == 0 ? "{\"\(name)\": " : ", \"\(name)\": ").utf8
            bytes.append(quoted: value)
        }
        bytes += "}\n".utf8
    }

    /// The lines in the order of their bytes, as `LC_ALL=C sort` has them.
    func sorted() -> [UInt8] {
        bytes.withUnsafeBytes { buffer in
            let ends = starts.dropFirst() + [bytes.count]
            let lines = zip(starts, ends).map { UnsafeRawBufferPointer(rebasing: buffer[$0..<$1]) }
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            for line in lines.sorted(by: Self.precedes) { result += line }
            return result
        }
    }

    /// Each line has its newline, which no byte of a line precedes.
    private static func precedes(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard let left = one.baseAddress, let right = other.baseAddress else { return false }
        let order = memcmp(left, right, min(one.count, other.count))
        return order == 0 ? one.count < other.count : order < 0
    }
}

extension [UInt8] {
    /// A string of JSON, in ASCII.
    fileprivate mutating func append(quoted text: String) {
        append(UInt8(ascii: "\""))
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5c: self += [0x5c, UInt8(unit)]
            case 0x20...0x7e: append(UInt8(unit))
            default:
                let digits = String(unit, radix: 16)
                self += ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).utf8
            }
        }
        append(UInt8(ascii: "\""))
    }
}
