package import GannetHTTP

/// The conditions of a client that may have a body already (RFC 9110, section 13), against the answer that there is for it.
package struct ClientConditions {
    private let noneMatch: [String]
    private let modifiedSince: String?
    private let range: String?
    private let ifRange: String?

    package init(_ request: HTTPServiceRequest) {
        noneMatch = request.headers("if-none-match")
        modifiedSince = request.header("if-modified-since")
        // RFC 9110, section 14.2: another method has no range.
        range = request.method == "GET" ? request.header("range") : nil
        ifRange = request.header("if-range")
    }

    /// Whether the client wants anything else than the whole body.
    package var exist: Bool { !noneMatch.isEmpty || modifiedSince != nil || range != nil }

    /// Whether the client has this state of the body.
    package func isCurrent(_ tag: EntityTag?, lastModified: String?, now: Int64) -> Bool {
        if !noneMatch.isEmpty { return Self.matches(noneMatch, tag) }
        guard let modifiedSince, let lastModified, let since = HTTPDate(modifiedSince, now: now),
            let modified = HTTPDate(lastModified, now: now)
        else { return false }
        return modified.secondsSince1970 <= since.secondsSince1970
    }

    /// The part that the client wants, unless it has a part of another state.
    package func range(of size: Int, _ tag: EntityTag?, lastModified: String?) -> ByteRange {
        if let ifRange {
            let isSame = EntityTag(Array(ifRange.utf8)).map { !$0.isWeak && $0 == tag } ?? (ifRange == lastModified)
            if !isSame { return .whole }
        }
        return ByteRange(range, of: size)
    }

    /// Weak and strong tags with the same text match here (RFC 9110, section 13.1.2).
    private static func matches(_ lists: [String], _ tag: EntityTag?) -> Bool {
        for list in lists {
            if list.trimmedOfBlanks == "*" { return true }
            guard let tag else { continue }
            if tags(list).contains(where: { $0.opaque == tag.opaque }) { return true }
        }
        return false
    }

    /// A tag may hold commas, so a list is no text with commas between tags.
    private static func tags(_ list: String) -> [EntityTag] {
        var tags: [EntityTag] = []
        var rest = Array(list.utf8)[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            let isWeak = rest[..<quote].suffix(2).elementsEqual("W/".utf8)
            guard let end = rest[(quote + 1)...].firstIndex(of: UInt8(ascii: "\"")) else { break }
            if let tag = EntityTag(Array(isWeak ? "W/".utf8 : "".utf8) + rest[quote...end]) { tags.append(tag) }
            rest = rest[(end + 1)...]
        }
        return tags
    }
}

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
            .map { String($0).trimmedOfBlanks }
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
    private static func number(_ text: String) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text) ?? .max
    }
}
