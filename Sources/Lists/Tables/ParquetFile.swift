internal import GannetBase

/// A Parquet file that is read as a list: its rows come through a pipe as JSON lines, one a row, in the file's order.
package struct ParquetFile: Sendable {
    /// The fields of a line. The first carried value is in the field `0`.
    package static let urlField = "u"
    package static let idField = "i"

    /// The bytes that each such file begins with.
    package static let signature = Array("PAR1".utf8)

    /// Reading to the end of the descriptor gives the rows. They are all of them only if the child then finishes.
    package let rows: Int32
    package let child: TableChild

    /// Whether a file is to be read as a Parquet file: by its first bytes, or by its name. A name alone makes its damage known.
    package static func isMeant(_ descriptor: Int32, path: String) -> Bool {
        path.lowercased().hasSuffix(".parquet") || begins(descriptor)
    }

    /// Whether a file begins as Parquet files do.
    package static func begins(_ descriptor: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: signature.count, alignment: 1) { bytes in
            Descriptor.read(into: bytes, from: descriptor, at: 0) == signature.count && bytes.elementsEqual(signature)
        }
    }

    /// Starts to read a file.
    /// - Parameters:
    ///   - file: A regular file. It stays the caller's, and need not stay open.
    ///   - list: Names the columns that are read. The names are compared as those of other tables.
    package init(_ file: Int32, _ list: ListOptions, by python: PythonProgram) throws(TableFailure) {
        guard let pipe = Descriptor.pipe() else { throw .cannotStart(errno) }
        defer { close(pipe.write) }
        let words: [(key: String, value: JSONValue)] = [
            ("column", JSONValue(list.column)), ("usual", .array(ColumnNames.usual.map { .string($0) })), ("id", JSONValue(list.idColumn)),
            ("carried", .array(list.carried.map { .string($0.path) })),
            // Longer values are cut. The reader refuses them.
            ("longest", .integer(Row.longestCarried)),
        ]
        lseek(file, 0, SEEK_SET)
        do throws(TableFailure) {
            child = try python.start(.rows, words, input: file, output: pipe.write)
        } catch {
            close(pipe.read)
            throw error
        }
        rows = pipe.read
    }
}
