import Foundation
import GannetTestKit
import Testing

@testable import Lists

/// The ends that a child may come to.
@Suite(.enabled(if: MachineNeed.canReadTables), .timeLimit(.minutes(2))) struct TableChildTests {
    private let folder: TemporaryFolder
    private let path: String

    init() async throws {
        folder = try TemporaryFolder()
        path = folder.file("list.parquet")
        _ = try await TablePython.run("pq.write_table(pa.table({'url': ['http://h/'] * 100_000}), sys.argv[1])", [path])
    }

    @Test func `without python3 or pyarrow the missing one is named`() async throws {
        #expect(throws: TableFailure.noPython) { try PythonProgram(in: "/nonexistent:relative:") }
        // Without `site` the packages of its environment are out of reach.
        let bin = try await TablePython.fake("HOME=/nonexistent exec \"$REAL\" -S \"$@\"", in: folder)
        let read = await ReadTable(path, path: bin)
        #expect(read.lines == [] && read.failure == .noModule("pyarrow", program: bin + "/python3"))
    }

    @Test func `modules in the working folder and in PYTHONPATH are not taken`() async throws {
        let trap = folder.file("trap")
        try FileManager.default.createDirectory(atPath: trap, withIntermediateDirectories: true)
        for name in ["pyarrow", "json", "decimal"] { try folder.write(Array("raise SystemExit(9)\n".utf8), to: "trap/\(name).py") }
        let bin = try await TablePython.fake("cd '\(trap)'\nPYTHONPATH='\(trap)' exec \"$REAL\" \"$@\"", in: folder)
        let read = await ReadTable(path, path: bin)
        #expect(read.lines.count == 100_000 && read.failure == nil)
    }

    @Test func `packages of a user are taken where the environment is not a virtual one`() async throws {
        // A `python3` that is in no virtual environment, but whose user has installed the package.
        let home = folder.file("home")
        let bin = try await TablePython.fake(
            """
            BASE=$("$REAL" -c 'import sys; print(sys._base_executable)')
            SITE=$(HOME='\(home)' "$BASE" -I -c 'import site; print(site.getusersitepackages())')
            mkdir -p "$(dirname "$SITE")"
            [ -e "$SITE" ] || ln -s "$("$REAL" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" "$SITE"
            HOME='\(home)' exec "$BASE" "$@"
            """, in: folder)
        let read = await ReadTable(path, path: bin)
        #expect(read.lines.count == 100_000 && read.failure == nil)
    }

    @Test func `a child that is killed, fails or stops in between is an error`() async throws {
        let ends: [(String, String)] = [
            ("echo '{\"u\":\"http://h/\"}'; kill -9 $$", "signal 9 ended it"), ("echo '{\"u\":\"'; exit 0", ""),
            ("exit 7", "it ended with status 7"),
        ]
        for (script, detail) in ends {
            let read = await ReadTable(path, path: try await TablePython.fake(script, in: folder))
            #expect(read.failure == (detail.isEmpty ? nil : .program(detail)), "\(script)")
        }
    }

    @Test func `a reader that leaves early ends the child, and so does an output that nobody reads`() throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var table: ParquetFile? = try ParquetFile(file, ListOptions(), by: PythonProgram(in: TablePython.folder))
        let (pid, rows) = (try #require(table).child.pid, try #require(table).rows)
        var byte: UInt8 = 0
        #expect(read(rows, &byte, 1) == 1 && kill(pid, 0) == 0)
        table = nil
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
        close(rows)

        let other = try ParquetFile(file, ListOptions(), by: PythonProgram(in: TablePython.folder))
        #expect(read(other.rows, &byte, 1) == 1)
        close(other.rows)
        // It ends by itself, as it has to when its parent was killed.
        try other.child.finish()
    }

    @Test func `a child that does not end is ended`() async throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let bin = try await TablePython.fake("exec sleep 1000 >&-", in: folder)
        let table = try ParquetFile(file, ListOptions(), by: PythonProgram(in: bin))
        defer { close(table.rows) }
        var byte: UInt8 = 0
        #expect(read(table.rows, &byte, 1) == 0)
        #expect(throws: TableFailure.program("it did not end")) { try table.child.finish(within: .milliseconds(50)) }
        #expect(kill(table.child.pid, 0) == -1 && errno == ESRCH)
    }
}
