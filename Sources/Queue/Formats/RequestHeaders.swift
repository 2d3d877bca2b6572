internal import GannetBase

/// The headers of a batch's requests, in order, besides the headers of every request. A URL that is requested with headers has its own id.
/// Only names are printed: values may be secrets.
///
/// In Redis they are a version byte, then for each header: length of the name (2), name, length of the value (2), value.
package struct RequestHeaders: Sendable, Hashable {
    package struct Line: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let lines: [Line]

    /// The bytes of names and values together. Every claim of the batch's jobs answers all of them.
    package static let mostBytes = 16_384
    package static let mostLines = 64
    package static let none = RequestHeaders(unchecked: [])

    private static let version = 1

    private init(unchecked lines: [Line]) { self.lines = lines }

    /// - Throws: `StateError.invalid` for more headers than a batch's record holds.
    package init(_ lines: [Line]) throws(StateError) {
        guard lines.count <= Self.mostLines else { throw .invalid("A batch has at most \(Self.mostLines) request headers.") }
        let size = lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard size <= Self.mostBytes else { throw .invalid("A batch's request headers have at most \(Self.mostBytes) bytes together.") }
        self.init(unchecked: lines)
    }

    /// The names in the order in which they were given, each once.
    package var names: [String] {
        var seen: Set<String> = []
        return lines.map(\.name).filter { seen.insert($0.lowercased()).inserted }
    }

    /// Whether requests with these headers are the same requests. The case of names does not matter.
    package func areSame(as other: RequestHeaders) -> Bool {
        lines.elementsEqual(other.lines) { $0.name.lowercased() == $1.name.lowercased() && $0.value == $1.value }
    }
}

extension RequestHeaders {
    /// Empty where there are no headers.
    package var bytes: [UInt8] {
        if lines.isEmpty { return [] }
        var bytes = [UInt8(Self.version)]
        for line in lines {
            for part in [line.name, line.value] {
                bytes.append(number: part.utf8.count, count: 2)
                bytes.append(contentsOf: part.utf8)
            }
        }
        return bytes
    }

    /// `nil` for bytes that are no headers.
    package init?(_ bytes: [UInt8]) {
        var lines: [Line] = []
        var reader = ByteReader(bytes)
        guard bytes.isEmpty || reader.number(1) == Self.version else { return nil }
        while !reader.isAtEnd {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            lines.append(Line(name: name, value: value))
        }
        self.init(unchecked: lines)
    }
}

extension ByteReader {
    fileprivate mutating func text() -> String? {
        guard let count = number(2), let bytes = bytes(count) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension RequestHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { lines.map(\.name).joined(separator: ", ") }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["names": lines.map(\.name)], displayStyle: .struct) }
}

extension RequestHeaders.Line: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { name }
    package var debugDescription: String { name }
    package var customMirror: Mirror { Mirror(self, children: ["name": name], displayStyle: .struct) }
}
