import GannetBase
import Lists

extension InputRows {
    /// A Parquet file that `python3` reads, and how the rows are read that come from it. Nil for a file of another kind.
    /// - Parameters:
    ///   - file: It stays the caller's, and need not stay open.
    ///   - name: `the input file 'list.parquet'`.
    static func parquet(
        _ file: Int32, path: String, name: String, _ options: ListOptions
    ) throws -> (table: ParquetFile, options: ListOptions)? {
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
        var rows = ListOptions()
        rows.format = .jsonl
        rows.field = ParquetFile.urlField
        rows.idColumn = options.idColumn.map { _ in ParquetFile.idField }
        rows.carried = options.carried.enumerated().map { CarriedColumn($1.name, at: "\($0)") }
        do {
            return (try ParquetFile(file, options, by: PythonProgram(in: Surroundings.current.environment["PATH"])), rows)
        } catch {
            throw CommandFailure(error, reading: name)
        }
    }
}

extension CommandFailure {
    /// A Parquet file that cannot be read, or not to its end.
    /// - Parameter name: `the input file 'list.parquet'`.
    init(_ failure: TableFailure, reading name: String) {
        let reason =
            switch failure {
            case .noPython, .noModule, .cannotStart: failure.sentence
            case .program(let detail): "python3, which reads Parquet files, has failed: \(detail)."
            case .noSuchColumn(let column, let columns, let count):
                ListError.noSuchColumn(column, columns: columns).reason(hasFormat: true, ofColumns: count)
            case .notText(let column, let type):
                "its column \(Sentence.quoted(column)) holds \(type), and URLs are text; name the column of the URLs with '--column'."
            case .unreadable(let detail): "it is damaged, cut off or no Parquet file: \(Sentence.quoted(detail).dropFirst().dropLast())."
            case .system(let detail): "\(detail)."
            case .memory: "a page of it takes more memory than 4 GB."
            }
        self.init(failure.isOfTable ? .noUsableInput : .unavailable, "Cannot read \(name): \(reason)")
    }

    /// A Parquet file that cannot be written.
    init(_ failure: TableFailure) {
        switch failure {
        case .noPython, .noModule, .cannotStart:
            self.init(.unavailable, "Cannot write manifest.parquet: \(failure.sentence)")
        case .program(let detail), .unreadable(let detail), .system(let detail):
            self.init(
                .cannotWrite,
                "manifest.parquet cannot be written (\(detail)). manifest.jsonl is complete, and the same command makes both again.")
        case .memory, .noSuchColumn, .notText:
            self.init(.cannotWrite, "manifest.parquet cannot be written: it takes more memory than 4 GB. manifest.jsonl is complete.")
        }
    }
}

extension TableFailure {
    /// The part that this machine lacks, and how to get it.
    fileprivate var sentence: String {
        let rule = "Parquet takes 'python3' with its package pyarrow"
        return switch self {
        case .noPython: "\(rule), and PATH has no 'python3'; install Python, then pyarrow with 'python3 -m pip install pyarrow'."
        case .noModule(let module, let program):
            "\(rule), and \(Sentence.quoted(program)) has no module \(Sentence.quoted(module)); install it with "
                + "'python3 -m pip install pyarrow', or activate a virtual environment that has it."
        case .cannotStart(let code): "\(rule), which cannot be started: \(Descriptor.message(code))."
        default: "\(rule)."
        }
    }
}
