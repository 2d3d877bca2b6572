import Foundation
import GannetTestKit
import Lists
import Testing

@testable import GannetCommand

/// The rows of a Parquet file within the program.
@Suite(.enabled(if: MachineNeed.canReadTables), .timeLimit(.minutes(2))) struct ParquetRowsInputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func input(of table: ParquetFile, patience: Duration = .seconds(60)) throws -> InputRows {
        var options = ListOptions()
        (options.format, options.field) = (.jsonl, ParquetFile.urlField)
        return try InputRows(descriptor: table.rows, owned: true, name: "the list", options, from: table.child, patience: patience)
    }

    private func table(_ script: String) async throws -> ParquetFile {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return try ParquetFile(file, ListOptions(), by: PythonProgram(in: try await TablePython.fake(script, in: folder)))
    }

    @Test func `a child that is silent for too long is ended`() async throws {
        let rows = try input(of: try await table("echo '{\"u\":\"http://h/\"}'; exec sleep 1000"), patience: .milliseconds(300))
        var count = 0
        await #expect(throws: CommandFailure.self) {
            while let batch = try await rows.nextBatch() { count += batch.count }
        }
        #expect(count == 1)
    }

    @Test func `cancelling ends the wait for a child, and the child goes with its rows`() async throws {
        let path = folder.file("pid")
        var rows: InputRows? = try input(of: try await table("echo $$ >'\(path)'; echo '{\"u\":\"http://h/\"}'; exec sleep 1000"))
        #expect(try await rows?.nextBatch()?.count == 1)
        let pid = try #require(pid_t(try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(pid, 0) == 0)
        let waiting = Task { [rows] in try await rows?.nextBatch() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        rows = nil
        // The task that waited may hold the rows for a moment longer.
        try await eventually("the child is gone") { kill(pid, 0) == -1 && errno == ESRCH }
    }

    @Test func `a row that is cut off is none, whatever the child's end`() async throws {
        let rows = try input(of: try await table("echo '{\"u\":\"http://h/1\"}'; printf '{\"u\":\"http://h/2\"}'; exit 1"))
        var seen: [Row] = []
        await #expect(
            throws: CommandFailure(
                .unavailable, "Cannot read the list: python3, which reads Parquet files, has failed: it ended with status 1.")
        ) {
            while let batch = try await rows.nextBatch() { seen += batch }
        }
        #expect(seen == [Row(.line(1), .url(Array("http://h/1".utf8)[...]))])
    }
}
