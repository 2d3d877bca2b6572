internal import GannetBase

/// One JSON object a line: the string in one of its fields, the value of another as the id, and others as they are.
struct JSONLines: LineParser {
    private let url: FieldPath
    private let id: FieldPath?
    private let carried: [FieldPath]
    private let object: CarriedObject?

    init(_ options: ListOptions) {
        url = FieldPath(options.field ?? "url")
        id = options.idColumn.map(FieldPath.init)
        carried = options.carried.map { FieldPath($0.path) }
        object = CarriedObject(options.carried)
    }

    func take(line number: Int, _ bytes: UnsafeRawBufferPointer, into rows: inout RowBatch) {
        var scan = JSONScan(bytes, url: url, id: id, carried: carried)
        scan.skipSpace()
        if scan.isAtEnd { return }
        guard scan.line() else { return rows.refuse(number, .badJSON(at: scan.position + 1)) }
        guard scan.isObject else { return rows.refuse(number, .notAnObject) }
        var values: [UInt8]?
        if let object {
            values = object.object(ofJSON: scan.carried.map { $0.map { bytes.part($0.whole.lowerBound, $0.whole.upperBound) } })
            if values == nil { return rows.refuse(number, .badJSON(at: firstBad(in: scan.carried, of: bytes) + 1)) }
        }
        withText(of: scan.id, in: bytes) { id in
            switch scan.url {
            case nil: rows.refuse(number, .noField, id: id, carried: values)
            case .other?: rows.refuse(number, .notText, id: id, carried: values)
            case .string(let range, _)?:
                withText(of: scan.url, in: bytes) { url in
                    if let url {
                        rows.append(number, url: url.trimmed, id: id, carried: values)
                    } else {
                        rows.refuse(number, .badJSON(at: range.lowerBound + 1), id: id, carried: values)
                    }
                }
            }
        }
    }

    /// Where the first carried value begins that is not JSON.
    private func firstBad(in carried: [JSONScan.Found?], of bytes: UnsafeRawBufferPointer) -> Int {
        var text: [UInt8] = []
        let bad = carried.compactMap { $0 }.first { !JSONCopy.append(bytes.part($0.whole.lowerBound, $0.whole.upperBound), to: &text) }
        return bad?.whole.lowerBound ?? 0
    }

    func takeOverlong(line number: Int, limit: Int, into rows: inout RowBatch) { rows.refuse(number, .tooLong(limit: limit)) }

    func finish(into rows: inout RowBatch) {}

    /// A string's text, or the number as it is written. Nil is a missing id, or a wrong escape.
    private func withText(of found: JSONScan.Found?, in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) -> Void) {
        switch found {
        case nil: body(nil)
        case .string(let range, isEscaped: false)?: body(bytes.part(range.lowerBound, range.upperBound))
        case .string(let range, isEscaped: true)?:
            guard let text = JSONText.unescaped(bytes.part(range.lowerBound, range.upperBound)) else { return body(nil) }
            text.withUnsafeBytes(body)
        case .other(let range)?:
            let text = bytes.part(range.lowerBound, range.upperBound)
            body(text.elementsEqual("null".utf8) ? nil : text)
        }
    }
}

/// The place of a field in an object: `url`, or `image.url` for the field `url` of the object in `image`. A name that contains dots is found too.
struct FieldPath {
    enum Match: Equatable {
        case no
        case here
        /// The rest of the path begins at this byte, and is to be found inside the field.
        case inside(Int)
    }

    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Compares a name with the rest of the path from byte `start` on.
    func match(_ name: UnsafeRawBufferPointer, from start: Int) -> Match {
        let left = bytes.count - start
        guard name.count <= left else { return .no }
        for offset in 0..<name.count where name[offset] != bytes[start + offset] { return .no }
        if name.count == left { return .here }
        return bytes[start + name.count] == UInt8(ascii: ".") ? .inside(start + name.count + 1) : .no
    }
}
