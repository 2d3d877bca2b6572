import GannetBase
import Lists

/// An input file that `python3` reads.
struct ParquetInput {
    let table: ParquetFile
    /// How the rows are read that come from it.
    let options: ListOptions

    /// Nil for a file of another kind.
    /// - Parameters:
    ///   - file: It stays the caller's, and need not stay open.
    ///   - name: `the input file 'list.parquet'`.
    init?(_ file: Int32, path: String, name: String, _ options: ListOptions) throws {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        switch options.format {
        case .parquet: break
        case nil: guard ParquetFile.isMeant(file, path: path) else { return nil }
        default: return nil
        }
        guard ParquetFile.begins(file) else {
            let what = status.st_size == 0 ? "it is empty, and no Parquet file" : "it does not begin as a Parquet file does"
            let advice = options.format == nil ? "; if it is something else, say so with '--format'." : "."
            throw CommandFailure(.noUsableInput, "Cannot read \(name): \(what)\(advice)")
        }
        guard options.field == nil else {
            let reason = ListError.optionDoesNotApply(.field, .parquet).reason(hasFormat: options.format != nil)
            throw CommandFailure(.noUsableInput, "Cannot read \(name): \(reason)")
        }
        do {
            table = try ParquetFile(file, options, by: PythonProgram(in: Surroundings.current.environment["PATH"]))
        } catch {
            throw CommandFailure(error, reading: name)
        }
        self.options = Self.rows(options)
    }

    private static func rows(_ options: ListOptions) -> ListOptions {
        var rows = ListOptions()
        rows.format = .jsonl
        rows.field = ParquetFile.urlField
        rows.idColumn = options.idColumn.map { _ in ParquetFile.idField }
        rows.carried = options.carried.enumerated().map { CarriedColumn($1.name, at: "\($0)") }
        return rows
    }
}
