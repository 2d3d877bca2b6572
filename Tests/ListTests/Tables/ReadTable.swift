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
        _ path: String, column: String? = nil, id: String? = nil, carried: [String] = [], path search: String = TablePython.folder
    ) async {
        var options = ListOptions()
        (options.column, options.idColumn, options.carried) = (column, id, carried.map { CarriedColumn($0) })
        self = await OwnedThread.run(name: "test-table") { [options] in ReadTable(reading: path, options, search) }
    }

    private init(reading path: String, _ options: ListOptions, _ search: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        do throws(TableFailure) {
            let table = try ParquetFile(file, options, by: PythonProgram(in: search))
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
