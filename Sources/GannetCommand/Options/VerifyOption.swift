import GannetBase
import Lists
import Results

/// `--verify`: the digests that bodies must have, from a column of the list.
struct VerifyOption: Sendable {
    let algorithm: ExpectedDigests.Algorithm
    /// The column of a table, or the field of JSON lines. The manifest repeats it.
    let column: String

    static let flag = Flag(
        "verify", .text("digest:column"),
        "Store only bodies with the digest that the row has in a column: 'sha256:COLUMN' or 'md5:COLUMN', in hexadecimal digits. A row with another "
            + "body fails as digest-mismatch. A row with nothing there is not checked. The manifest repeats the column, as '--carry' does.")

    init?(_ arguments: Arguments) throws {
        guard let text = try arguments.optional(Self.flag) else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let algorithm = ExpectedDigests.Algorithm(rawValue: String(parts[0])), !parts[1].isEmpty else {
            throw arguments.usageError("'--verify \(text)' is neither 'sha256:COLUMN' nor 'md5:COLUMN'.")
        }
        self.algorithm = algorithm
        column = String(parts[1])
    }

    /// The columns with this one as the last.
    func added(to columns: [CarriedColumn]) -> [CarriedColumn] { columns.filter { $0.name != column } + [CarriedColumn(column)] }

    /// The digest in a row's carried values, of which it is the last. Nil where there is nothing; empty where there is something else.
    func digest(in row: Row) -> [UInt8]? {
        row.carried?.withUnsafeBytes { carried in
            guard let place = JSONText.values(ofObject: carried).last else { return nil }
            let value = carried[place]
            if value.elementsEqual("null".utf8) || value.elementsEqual("\"\"".utf8) { return nil }
            guard value.first == UInt8(ascii: "\""), value.count > 2 else { return [] }
            // Tables have blanks around their cells.
            var text = value.dropFirst().dropLast().drop { $0 == UInt8(ascii: " ") }
            while text.last == UInt8(ascii: " ") { text = text.dropLast() }
            if text.isEmpty { return nil }
            guard text.count == algorithm.digits else { return [] }
            let digits = text.map { UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0 ? $0 | 0x20 : $0 }
            return [UInt8](hexadecimal: digits) ?? []
        }
    }
}
