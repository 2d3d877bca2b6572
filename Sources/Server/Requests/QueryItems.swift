internal import GannetBase

/// The parameters of a request's query, as forms write them, and of its path.
package struct QueryItems: Sendable {
    private var values: [String: String] = [:]

    /// Throws when a parameter is unknown, missing, comes twice, or has a value that it does not take.
    package init(_ query: Substring, path: [String: String] = [:], _ parameters: [Parameter]) throws(Problem) {
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(Substring(pair[0])), let value = pair.count > 1 ? Self.decoded(Substring(pair[1])) : "" else {
                throw .badRequest("A part of the query is not text in UTF-8 with percent signs: write %25 for a percent sign.")
            }
            guard let parameter = parameters.first(where: { $0.place == .query && $0.name == name }) else {
                let known = parameters.filter { $0.place == .query }
                let names = known.isEmpty ? "there are none here" : "there are \(known.map(\.name).joined(separator: ", "))"
                throw .badRequest("The parameter '\(name.prefix(64))' is unknown: \(names). Write & as %26 within a value.")
            }
            guard values.updateValue(value, forKey: name) == nil else { throw .badRequest("The parameter '\(name)' may come only once.") }
            try parameter.check(value)
        }
        values.merge(path) { $1 }
        if let missing = parameters.first(where: { $0.place == .query && $0.isRequired && values[$0.name] == nil }) {
            throw .badRequest("The parameter '\(missing.name)' is missing.")
        }
    }

    /// The value of a parameter that need not be there.
    package subscript(name: String) -> String? { values[name] }

    /// The value of a parameter that is required.
    func required(_ name: String) -> String { values[name] ?? "" }

    package func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    package func seconds(_ name: String) -> Duration? { values[name].flatMap { Parameter.Form.readSeconds($0) } }

    package func minutes(_ name: String) -> Int? { values[name].flatMap { Parameter.Form.readMinutes($0) } }

    func flag(_ name: String) -> Bool { values[name] == "true" }

    /// A plus sign is a space, and `%XX` a byte. Nil for other uses of the percent sign, for a NUL and for bytes that are no UTF-8.
    package static func decoded(_ text: Substring) -> String? {
        if !text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") || $0 == 0 }) { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }
}
