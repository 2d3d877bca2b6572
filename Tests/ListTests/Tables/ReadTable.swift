import Foundation
import GannetBase
import GannetTestKit
import Lists

/// A Parquet file as a program that reads it gets it.
struct ReadTable {
    var lines: [String] = []
    var failure: TableFailure?

    /// On a thread of its own: it waits for a program.
    init(
        _ path: String, column: String? = nil, id: String? = nil, carried: [String] = [], longest: Int = 8192,
        path search: String = TablePython.folder
    ) async {
        let columns = ParquetFile.Columns(
            url: column, usual: ColumnNames.usual, id: id, carried: carried, longestCarried: longest)
        self = await OwnedThread.run(name: "test-table") { ReadTable(reading: path, columns, search) }
    }

    private init(reading path: String, _ columns: ParquetFile.Columns, _ search: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        do throws(TableFailure) {
            let table = try ParquetFile(file, columns, by: PythonProgram(in: search))
            let rows = FileHandle(fileDescriptor: table.rows, closeOnDealloc: true)
            let bytes = rows.readDataToEndOfFile()
            lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
                String.init)
            try table.child.finish()
        } catch {
            failure = error
        }
    }
}
