import Foundation
import GannetTestKit
import Testing

@testable import Lists

@Suite(.enabled(if: MachineNeed.canReadTables), .timeLimit(.minutes(3))) struct ParquetRowsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ table: String, options: String = "") async throws -> String {
        let path = folder.file("list.parquet")
        _ = try await TablePython.run("table = \(table)\npq.write_table(table, sys.argv[1]\(options))\n", [path])
        return path
    }

    @Test func `each row is one line, in the file's order, with its values as the file has them`() async throws {
        let path = try await make(
            """
            pa.table({
                "Image_URL": ["http://h/1", 'http://h/"2"\\\\', None, "", "http://h/\\n5\\0"],
                "key": pa.array([1, None, 3, 4, 5]), "text": ["a", "\\u2028", "\\0", None, ""], "score": [0.5, float("nan"), float("inf"), None, 1e300],
                "big": pa.array([2**64 - 1] * 5, pa.uint64()), "price": [decimal.Decimal("12.50")] * 5,
                "when": pa.array([datetime.datetime(2026, 1, 2, 3, 4, 5, 6)] * 5, pa.timestamp("ns", "Europe/Berlin")),
                "tags": [["x", None], [], None, ["y"], ["z"]], "size": [{"w": 1, "h": None}] * 5, "a.b": ["dot"] * 5,
                "kind": pa.array(["p", None, "p", "q", "q"]).dictionary_encode(), "good": [True, False, None, True, True],
            })
            """)
        let read = await ReadTable(
            path, id: "KEY", carried: ["text", "score", "big", "price", "when", "tags", "size", "a.b", "kind", "good"])
        #expect(read.failure == nil)
        let common = (
            big: #""2":18446744073709551615,"3":12.50,"4":"2026-01-02T03:04:05.000006+00:00""#, size: #""6":{"w":1,"h":null},"7":"dot""#
        )
        #expect(
            read.lines == [
                #"{"u":"http://h/1","i":1,"0":"a","1":0.5,\#(common.big),"5":["x",null],\#(common.size),"8":"p","9":true}"#,
                #"{"u":"http://h/\u00222\u0022\u005c","i":null,"0":"\#u{2028}","1":null,\#(common.big),"5":[],\#(common.size),"8":null,"9":false}"#,
                #"{"u":"","i":3,"0":"\u0000","1":null,\#(common.big),"5":null,\#(common.size),"8":"p","9":null}"#,
                #"{"u":"","i":4,"0":null,"1":null,\#(common.big),"5":["y"],\#(common.size),"8":"q","9":true}"#,
                #"{"u":"http://h/\u000a5\u0000","i":5,"0":"","1":1e+300,\#(common.big),"5":["z"],\#(common.size),"8":"q","9":true}"#,
            ])
    }

    @Test func `bytes that are no UTF-8 come as they are`() async throws {
        let path = try await make("pa.table({'url': pa.array([b'http://h/\\xff', b'b']).view(pa.string())})")
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let table = try ParquetFile(file, ListOptions(), by: PythonProgram(in: TablePython.folder))
        let rows = FileHandle(fileDescriptor: table.rows, closeOnDealloc: true)
        #expect(Array(rows.readDataToEndOfFile()) == Array(#"{"u":"http://h/"#.utf8) + [0xFF] + Array("\"}\n{\"u\":\"b\"}\n".utf8))
        try table.child.finish()
    }

    @Test func `a value that is too long is cut, and still too long`() async throws {
        let path = try await make("pa.table({'url': ['http://h/'] * 2, 'text': ['x' * 50_000_000, 'short']})")
        let read = await ReadTable(path, carried: ["text"])
        #expect(read.lines.map(\.utf8.count) == [8192 + 24, 29] && read.failure == nil)
    }

    @Test func `a table without rows, and one of many row groups, are read whole`() async throws {
        let empty = try await make("pa.table({'url': pa.array([], pa.string())})")
        let none = await ReadTable(empty)
        #expect(none.lines == [] && none.failure == nil)
        let path = try await make("pa.table({'url': [f'http://h/{i}' for i in range(30_000)]})", options: ", row_group_size=7")
        let many = await ReadTable(path)
        #expect(many.lines == (0..<30_000).map { #"{"u":"http://h/\#($0)"}"# } && many.failure == nil)
    }

    @Test func `a column that is missing, and one of another type, are named`() async throws {
        let path = try await make("pa.table({'a': ['x'], 'number': [1]})")
        #expect(await ReadTable(path).failure == .noSuchColumn(nil, columns: ["a", "number"], of: 2))
        #expect(await ReadTable(path, column: "a", carried: ["c"]).failure == .noSuchColumn("c", columns: ["a", "number"], of: 2))
        #expect(await ReadTable(path, column: "number").failure == .notText(column: "number", type: "int64"))
        #expect(await ReadTable(path, column: "A").lines == [#"{"u":"x"}"#])
    }

    @Test func `a file that is cut off or damaged is an error, and never fewer rows`() async throws {
        let path = try await make("pa.table({'url': [f'http://h/{i}' for i in range(20_000)]})", options: ", row_group_size=5000")
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let lines = await ReadTable(path).lines
        for size in stride(from: 0, to: whole.count, by: whole.count / 7) {
            try folder.write(whole.prefix(size), to: "cut.parquet")
            guard case .unreadable? = await ReadTable(folder.file("cut.parquet")).failure else {
                Issue.record("\(size) of \(whole.count) bytes were read")
                continue
            }
        }
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededBytes(seed: seed)
        for _ in 0..<8 {
            var damaged = whole
            for _ in 0..<200 { damaged[Int(random.next() % UInt64(whole.count))] = UInt8(random.next() % 256) }
            try folder.write(damaged, to: "damaged.parquet")
            let read = await ReadTable(folder.file("damaged.parquet"))
            // The bytes of a URL may have changed. Their number may not.
            #expect(read.failure != nil || read.lines.count == lines.count, "seed \(seed)")
        }
    }

    @Test func `a million rows in one row group take no more memory than fifty thousand, but for a page`() async throws {
        func peak(rows: Int) async throws -> Int {
            let path = try await make(
                "pa.table({'url': [f'http://host{i % 977}.example/{i}/{i * 2654435761 % 2**64:020}.jpg' for i in range(\(rows))]})",
                options: ", row_group_size=\(rows), use_dictionary=False, compression='none'")
            let file = open(path, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let table = try ParquetFile(file, ListOptions(), by: PythonProgram(in: TablePython.folder))
            let output = FileHandle(fileDescriptor: table.rows, closeOnDealloc: true)
            // It goes on only while its rows are read, so it is there before the last of them.
            var (count, memory) = (0, 0)
            while let part = try output.read(upToCount: 1 << 16), !part.isEmpty {
                count += lineFeeds(in: part)
                if count > rows * 9 / 10, memory == 0 { memory = try peakMemory(of: table.child.pid) }
            }
            try table.child.finish()
            #expect(count == rows)
            return memory
        }
        let (small, large) = (try await peak(rows: 50_000), try await peak(rows: 1_000_000))
        #expect(small > 1 << 20)
        // The wanted column of the larger file has 50 MB.
        #expect(large - small < 32 << 20, "\(small), \(large)")
    }

    private func lineFeeds(in part: Data) -> Int {
        part.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            var (at, count) = (0, 0)
            while at < bytes.count, let found = memchr(start + at, 0x0A, bytes.count - at) {
                count += 1
                at = UnsafeRawPointer(found) - start + 1
            }
            return count
        }
    }

    private func peakMemory(of pid: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
}
