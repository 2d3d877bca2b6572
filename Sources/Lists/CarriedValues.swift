internal import GannetBase

/// A column whose values go with their rows into the results.
package struct CarriedColumn: Sendable, Equatable {
    /// The key of its values in the results.
    package let name: String
    /// The column's name, or the place of the field in JSON lines.
    package let path: String

    package init(_ name: String, at path: String? = nil) {
        self.name = name
        self.path = path ?? name
    }
}

/// Writes the values that a row carries as one JSON object, whose keys are always all there and in the user's order.
struct CarriedObject {
    /// Each with the brace or comma before it and the colon behind it.
    private let keys: [[UInt8]]

    /// Nil where nothing is carried.
    init?(_ columns: [CarriedColumn]) {
        if columns.isEmpty { return nil }
        keys = columns.enumerated().map { index, column in
            var key: [UInt8] = [UInt8(ascii: index == 0 ? "{" : ",")]
            JSONValue.string(column.name).append(to: &key)
            key.append(UInt8(ascii: ":"))
            return key
        }
    }

    /// A table's cells as strings; nil is a cell that the row does not have.
    func object(ofCells cells: [[UInt8]?]) -> [UInt8] {
        object(of: cells) { cell, text in
            JSONValue.string(String(decoding: cell, as: UTF8.self)).append(to: &text)
            return true
        } ?? []
    }

    /// Values of JSON as they are; nil is a field that the row does not have.
    /// - Returns: Nil when one of them is not JSON.
    func object(ofJSON values: [UnsafeRawBufferPointer?]) -> [UInt8]? { object(of: values, JSONCopy.append) }

    private func object<Value>(of values: [Value?], _ append: (Value, inout [UInt8]) -> Bool) -> [UInt8]? {
        var text: [UInt8] = []
        for (key, value) in zip(keys, values) {
            text += key
            guard let value else {
                text += "null".utf8
                continue
            }
            guard append(value, &text) else { return nil }
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}

/// Copies JSON that `JSONScan` has passed, into the form that this project writes: without blanks, as UTF-8, with control characters by
/// their numbers. Numbers keep their digits.
enum JSONCopy {
    /// False when a number or an escape in it is wrong.
    static func append(_ value: UnsafeRawBufferPointer, to text: inout [UInt8]) -> Bool {
        var rest = value
        while let first = rest.first {
            switch first {
            case .quote:
                let end = endOfString(rest)
                guard let string = JSONText.unescaped(rest.part(1, end)) else { return false }
                JSONValue.string(String(decoding: string, as: UTF8.self)).append(to: &text)
                rest = rest.part(end + 1, rest.count)
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"):
                text.append(first)
                rest = rest.part(1, rest.count)
            case _ where first.isSpace: rest = rest.part(1, rest.count)
            default:
                let end = rest.firstIndex { !$0.isInWord } ?? rest.count
                let word = rest.part(0, end)
                guard end > 0, first.isLetter || isNumber(word) else { return false }
                text += word
                rest = rest.part(end, rest.count)
            }
        }
        return true
    }

    private static func endOfString(_ bytes: UnsafeRawBufferPointer) -> Int {
        var end = 1
        while bytes[end] != .quote { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return end
    }

    /// The grammar of RFC 8259: no leading zeros, and digits on both sides of a point.
    private static func isNumber(_ word: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        func skip(_ characters: String) -> Bool {
            guard position < word.count, characters.utf8.contains(word[position]) else { return false }
            position += 1
            return true
        }
        func digits() -> Bool {
            let start = position
            while skip("0123456789") {}
            return position > start
        }
        _ = skip("-")
        guard skip("0") || digits() else { return false }
        if skip("."), !digits() { return false }
        if skip("eE") {
            _ = skip("+-")
            if !digits() { return false }
        }
        return position == word.count
    }
}

extension UInt8 {
    /// Of `true`, `false` and `null`, which `JSONScan` has compared.
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
