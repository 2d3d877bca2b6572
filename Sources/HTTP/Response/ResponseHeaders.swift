internal import GannetBase

/// The header lines of one answer, kept as they came, and read when a value is wanted.
public struct ResponseHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// Lines with their ends, without the status line.
    private let lines: [UInt8]
    /// A bit for the mark of each line's name. An answer is asked for a dozen names, and has no line of most of them.
    private let marks: UInt64

    package init(lines: [UInt8] = []) {
        self.lines = lines
        marks = Self.marks(of: lines)
    }

    /// Each pair is a line.
    package init(_ fields: [(name: String, value: String)]) {
        self.init(lines: Array(fields.map { "\($0.name): \($0.value)\r\n" }.joined().utf8))
    }

    /// For answers of your own: `["Content-Type": "image/png", "Cache-Control": "max-age=60"]`.
    public init(dictionaryLiteral fields: (String, String)...) {
        // A line break in a value would begin another header.
        self.init(fields.map { (name: $0.0.withoutControls, value: $0.1.withoutControls) })
    }

    /// These headers, followed by the given ones.
    package func adding(_ fields: [(name: String, value: String)]) -> ResponseHeaders {
        let isOpen = lines.last.map { $0 != 0x0a } ?? false
        return ResponseHeaders(lines: lines + (isOpen ? [0x0a] : []) + ResponseHeaders(fields).lines)
    }

    /// The size of all lines.
    package var byteCount: Int { lines.count }

    /// The first value of that name. Bytes that are not UTF-8 are replaced.
    public subscript(name: String) -> String? {
        var (name, found, isFirst) = (name, String?.none, true)
        name.withUTF8 { name in
            scan(for: name) {
                isFirst = found == nil
                if isFirst { found = String(decoding: $0, as: UTF8.self) }
            } fold: {
                if isFirst { found? += " " + String(decoding: $0, as: UTF8.self) }
            }
        }
        return found
    }

    /// The values of that name in the order they came, without the blanks around them. A line that begins with a blank belongs to the one before it.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        var name = name
        name.withUTF8 { name in
            scan(for: name) {
                values.append(String(decoding: $0, as: UTF8.self))
            } fold: {
                values[values.count - 1] += " " + String(decoding: $0, as: UTF8.self)
            }
        }
        return values
    }

    /// All lines in the order they came, without the blanks around names and values. Bytes that are not UTF-8 are replaced.
    package var fields: [(name: String, value: String)] { fields { _ in true } }

    /// The lines whose names, in small letters, are wanted, as `fields` has them.
    package func fields(where isWanted: (String) -> Bool) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(16)
        var isOpen = false
        lines.withUnsafeBytes { bytes in
            for line in bytes.split(separator: 0x0a) {
                if line.first == 0x20 || line.first == 0x09 {
                    if isOpen { fields[fields.count - 1].value += " " + String(decoding: Self.trimmed(line), as: UTF8.self) }
                } else if let colon = line.firstIndex(of: 0x3a) {
                    let name = String(decoding: Self.trimmed(line[..<colon]), as: UTF8.self)
                    isOpen = isWanted(name.lowercased())
                    if isOpen { fields.append((name, String(decoding: Self.trimmed(line[(colon + 1)...]), as: UTF8.self))) }
                }
            }
        }
        return fields
    }

    /// The lines whose names, in small letters, are wanted: byte for byte, and each with an end.
    package func lines(where isWanted: (String) -> Bool) -> [UInt8] {
        var wanted: [UInt8] = []
        var isOpen = false
        for line in lines.split(separator: 0x0a) {
            if line.first != 0x20, line.first != 0x09 {
                let name = line.firstIndex(of: 0x3a).map { String(decoding: line[..<$0], as: UTF8.self).trimmedOfBlanks.lowercased() }
                isOpen = name.map(isWanted) ?? false
            }
            if isOpen { wanted += line + [0x0a] }
        }
        return wanted
    }

    /// All lines, byte for byte.
    package var bytes: [UInt8] { lines }

    /// The first value of that name, byte for byte.
    package func bytes(of name: StaticString) -> [UInt8]? {
        var found: [UInt8]?
        scan(for: name) { value in
            if found == nil { found = Array(value) }
        }
        return found
    }

    /// Whether there is a line of that name. It costs no allocation, because it is asked for nearly every answer.
    package func has(_ name: StaticString) -> Bool {
        var isFound = false
        scan(for: name) { _ in isFound = true }
        return isFound
    }

    /// Whether libcurl and others read a line of that name differently: it is folded, or has a blank before its colon.
    func isAmbiguous(_ name: StaticString) -> Bool {
        var isAmbiguous = false
        scan(for: name) { value in
            // The bytes before the value, back to the line's beginning: a name, and a colon right behind it.
            let before = value.base[..<value.startIndex].reversed().drop { $0 == 0x20 || $0 == 0x09 }.dropFirst()
            if let last = before.first, last == 0x20 || last == 0x09 { isAmbiguous = true }
        } fold: { _ in
            isAmbiguous = true
        }
        return isAmbiguous
    }

    private func scan(
        for name: StaticString, _ take: (Slice<UnsafeRawBufferPointer>) -> Void, fold: (Slice<UnsafeRawBufferPointer>) -> Void = { _ in }
    ) {
        name.withUTF8Buffer { scan(for: $0, take, fold: fold) }
    }

    /// The bit of a name: of its first letter and its length.
    private static func mark(_ first: UInt8, _ length: Int) -> UInt64 { 1 << ((UInt64(first & 0x1f) &+ 11 &* UInt64(length)) & 63) }

    private static func marks(of lines: [UInt8]) -> UInt64 {
        lines.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var marks: UInt64 = 0
            var start = 0
            while start < bytes.count {
                let end = memchr(base + start, 0x0a, bytes.count - start).map { UnsafeRawPointer($0) - base } ?? bytes.count
                if var nameEnd = memchr(base + start, 0x3a, end - start).map({ UnsafeRawPointer($0) - base }) {
                    while nameEnd > start, bytes[nameEnd - 1] == 0x20 || bytes[nameEnd - 1] == 0x09 { nameEnd -= 1 }
                    marks |= mark(bytes[start], nameEnd - start)
                }
                start = end + 1
            }
            return marks
        }
    }

    /// Lines of other names are passed by at their first byte.
    private func scan(
        for name: UnsafeBufferPointer<UInt8>, _ take: (Slice<UnsafeRawBufferPointer>) -> Void,
        fold: (Slice<UnsafeRawBufferPointer>) -> Void
    ) {
        guard let first = name.first, marks & Self.mark(first, name.count) != 0 else { return }
        lines.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var isOpen = false
            var start = 0
            while start < bytes.count {
                let end = memchr(base + start, 0x0a, bytes.count - start).map { UnsafeRawPointer($0) - base } ?? bytes.count
                let byte = bytes[start]
                if byte == 0x20 || byte == 0x09 {
                    if isOpen { fold(Self.trimmed(bytes[start..<end])) }
                } else {
                    isOpen = byte | 0x20 == first | 0x20 && Self.begins(bytes[start..<end], with: name)
                    if isOpen, let colon = bytes[start..<end].firstIndex(of: 0x3a) { take(Self.trimmed(bytes[(colon + 1)..<end])) }
                }
                start = end + 1
            }
        }
    }

    /// RFC 9112 forbids blanks between the name and its colon. They are accepted here, because libcurl accepts them.
    private static func begins(_ line: Slice<UnsafeRawBufferPointer>, with name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard line.count > name.count else { return false }
        for index in 0..<name.count {
            if line[line.startIndex + index].lowercased != name[index].lowercased { return false }
        }
        return line.dropFirst(name.count).first { $0 != 0x20 && $0 != 0x09 } == 0x3a
    }

    private static func trimmed(_ value: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var value = value
        // A part of the line's end counts too.
        while let first = value.first, first.isBlank || first == 0x0d { value.removeFirst() }
        while let last = value.last, last.isBlank || last == 0x0d { value.removeLast() }
        return value
    }
}

extension String {
    fileprivate var withoutControls: String {
        utf8.contains(where: \.isControl) ? String(decoding: utf8.filter { !$0.isControl }, as: UTF8.self) : self
    }
}

/// Prints all names, and the values of the few headers that describe a body or its keeping: in a log, in a dump, or as a part of another value.
/// All other values may be somebody's secret, such as a cookie or a place with a token.
extension ResponseHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let fields = fields
        var children = fields.prefix(Self.mostPrinted).map { field in
            let isPlain = Self.plainNames.contains(field.name.lowercased())
            return (label: field.name.escapedForDisplay as String?, value: (isPlain ? field.value.escapedForDisplay : "•••") as Any)
        }
        if fields.count > children.count { children.append(("…", "and \(fields.count - children.count) more")) }
        return Mirror(self, children: children, displayStyle: .struct)
    }

    /// A stranger may send thousands.
    private static let mostPrinted = 40
    private static let plainNames: Set = [
        "accept-ranges", "age", "cache-control", "content-encoding", "content-language", "content-length", "content-range", "content-type",
        "date", "etag", "expires", "last-modified", "retry-after", "server", "vary",
    ]
}
