import Foundation
import GannetTestKit
import Testing

@testable import Lists

@Suite(.enabled(if: MachineNeed.canReadTables), .timeLimit(.minutes(2))) struct ParquetManifestTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Each column's name, type and values.
    private func table(of lines: [String]) async throws -> String {
        let manifest = try folder.write(Array(lines.map { $0 + "\n" }.joined().utf8), to: "manifest.jsonl")
        let output = open(folder.file("manifest.parquet"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(output) }
        try await ParquetManifest.write(of: manifest, to: output, by: PythonProgram(in: TablePython.folder))
        return try await TablePython.run(
            """
            table = pq.read_table(sys.argv[1])
            for field in table.schema:
                values = table.column(field.name).to_pylist()
                if len(values) != values.count(None) or field.type != "string": print(field.name, field.type, json.dumps(values))
            """, [folder.file("manifest.parquet")])
    }

    @Test func `each key is a column with its type, and so is each carried value`() async throws {
        let table = try await table(of: [
            #"{"line":1,"url":"http://h/1","outcome":"fetched","httpStatus":200,"bytes":5000000000,"sha256":"ab","contentType":"image/png","durationMilliseconds":7,"file":"a","error":null,"id":"7","carried":{"text":"a","score":1,"n":18446744073709551615,"mix":1,"url":"mine","tags":[1,"ü"],"good":true}}"#,
            #"{"line":2,"url":null,"outcome":"invalid","httpStatus":null,"bytes":null,"sha256":null,"contentType":null,"durationMilliseconds":null,"file":null,"error":{"class":"invalid","message":"no"},"carried":{"text":null,"score":0.5,"n":1,"mix":"x","url":"mine","tags":null,"good":false}}"#,
            #"{"line":null,"argument":1,"url":"u","outcome":"failed","httpStatus":404,"bytes":null,"sha256":null,"contentType":null,"durationMilliseconds":1,"file":null,"error":{"class":"http-404","message":"m"},"later":4}"#,
        ])
        #expect(
            table == """
                line int64 [1, 2, null]
                argument int64 [null, null, 1]
                finished int64 [null, null, null]
                url string ["http://h/1", null, "u"]
                outcome string ["fetched", "invalid", "failed"]
                httpStatus int32 [200, null, 404]
                bytes int64 [5000000000, null, null]
                sha256 string ["ab", null, null]
                contentType string ["image/png", null, null]
                durationMilliseconds int64 [7, null, 1]
                file string ["a", null, null]
                errorClass string [null, "invalid", "http-404"]
                errorMessage string [null, "no", "m"]
                id string ["7", null, null]
                later int64 [null, null, 4]
                text string ["a", null, null]
                score double [1.0, 0.5, null]
                n uint64 [18446744073709551615, 1, null]
                mix string ["1", "x", null]
                carried.url string ["mine", "mine", null]
                tags string ["[1, \\"\\u00fc\\"]", null, null]
                good bool [true, false, null]

                """)
    }

    @Test func `a manifest of no rows, of many rows, and a number of many digits`() async throws {
        #expect(try await table(of: []).hasPrefix("line int64 []\n"))
        let digits = String(repeating: "9", count: 8000)
        let many = try await table(of: (1...40_000).map { #"{"line":\#($0),"url":"u","carried":{"n":\#($0 == 1 ? digits : "1")}}"# })
        #expect(many.contains("line int64 [1, 2, 3, ") && many.contains(", 39999, 40000]") && many.contains("n string [\"\(digits)\", "))
    }

    @Test func `an output that is full, and a machine that cannot do it, are errors`() async throws {
        let python = try PythonProgram(in: TablePython.folder)
        try await ParquetManifest.check(python)
        let manifest = try folder.write(Array("{\"line\":1}\n".utf8), to: "manifest.jsonl")
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        await #expect(throws: TableFailure.system("No space left on device")) {
            try await ParquetManifest.write(of: manifest, to: full, by: python)
        }
        let bin = try await TablePython.fake("HOME=/nonexistent exec \"$REAL\" -S \"$@\"", in: folder)
        await #expect(throws: TableFailure.noModule("pyarrow", program: bin + "/python3")) {
            try await ParquetManifest.check(PythonProgram(in: bin))
        }
    }

    @Test func `cancelling ends the child`() async throws {
        let bin = try await TablePython.fake("exec sleep 1000", in: folder)
        let writing = Task { try await ParquetManifest.check(PythonProgram(in: bin)) }
        writing.cancel()
        await #expect(throws: TableFailure.self) { try await writing.value }
    }
}
