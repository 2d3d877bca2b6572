/// The part of a body that a client wants (RFC 9110, section 14).
package enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    /// No byte of the body is in the range.
    case unsatisfiable

    /// A list of several ranges, another unit and a malformed header count as none: the whole body is always a right answer.
    package init(_ header: String?, of size: Int) {
        self = .whole
        guard let header, let equals = header.firstIndex(of: "="), header[..<equals].lowercased() == "bytes" else { return }
        let ends = header[header.index(after: equals)...].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.trimmed }
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return }
        switch (first, last) {
        case (nil, nil): return
        case (nil, let count?): self = count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
        case (let start?, let end):
            if let end, end < start { return }
            self = start >= size ? .unsatisfiable : .part(start..<min(size, end.map { $0 < Int.max ? $0 + 1 : $0 } ?? size))
        }
    }

    /// `.some(nil)` without digits; nil for another text. A number that is too large counts as the largest.
    private static func number(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text) ?? .max
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
