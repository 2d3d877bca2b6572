internal import GannetBase

/// A Parquet file that is read as a list: its rows come through a pipe as JSON lines, one a row, in the file's order.
package struct ParquetFile: Sendable {
    /// The columns that are read. The names are compared as those of other tables.
    package struct Columns: Sendable {
        /// Nil for the first with a usual name.
        package var url: String?
        /// In the order in which they are looked for, without blanks, dashes and underscores.
        package var usual: [String]
        package var id: String?
        package var carried: [String]
        /// Carried values beyond this many bytes are cut. The reader refuses them.
        package var longestCarried: Int

        package init(url: String?, usual: [String], id: String?, carried: [String], longestCarried: Int) {
            self.url = url
            self.usual = usual
            self.id = id
            self.carried = carried
            self.longestCarried = longestCarried
        }
    }

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
    /// - Parameter file: A regular file. It stays the caller's, and need not stay open.
    package init(_ file: Int32, _ columns: Columns, by python: PythonProgram) throws(TableFailure) {
        guard let pipe = Descriptor.pipe() else { throw .cannotStart(errno) }
        defer { close(pipe.write) }
        let options: [(key: String, value: JSONValue)] = [
            ("column", JSONValue(columns.url)), ("usual", .array(columns.usual.map { .string($0) })), ("id", JSONValue(columns.id)),
            ("carried", .array(columns.carried.map { .string($0) })), ("longest", .integer(columns.longestCarried)),
        ]
        lseek(file, 0, SEEK_SET)
        do throws(TableFailure) {
            child = try python.start(.rows, options, input: file, output: pipe.write)
        } catch {
            close(pipe.read)
            throw error
        }
        rows = pipe.read
    }
}
