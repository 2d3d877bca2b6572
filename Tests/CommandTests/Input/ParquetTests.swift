import Foundation
import GannetTestKit
import Testing

/// Lists in Parquet files, and manifests as such files.
@Suite(.enabled(if: MachineNeed.canReadTables), .timeLimit(.minutes(3))) struct ParquetTests {
    private func expectRows(_ lines: [[String: Any]], _ urls: [String?], _ location: SourceLocation = #_sourceLocation) {
        #expect(lines.map { $0["line"] as? Int } == Array(1...urls.count), sourceLocation: location)
        #expect(lines.map { $0["url"] as? String } == urls, sourceLocation: location)
        #expect(lines.map { $0["id"] as? String } == (1...urls.count).map { "\($0)" }, sourceLocation: location)
        let carried = lines.map { $0["carried"] as? [String: Any] }
        #expect(carried.map { $0?["TEXT"] as? String } == (1...urls.count).map { "caption \($0)" }, sourceLocation: location)
        #expect(carried.map { $0?["similarity"] as? Double } == (1...urls.count).map { Double($0) / 8 }, sourceLocation: location)
    }

    private let words = ["--id-column", "key", "--carry", "TEXT,similarity"]

    @Test func `a list is fetched in place, and each row's id and columns are in both manifests`() async throws {
        let fleet = try await Fleet.start(files: 20)
        let urls: [String?] = fleet.origin.urls + [nil, "no url", fleet.origin.urls[0]]
        try await fleet.makeTable(of: urls, options: ", row_group_size=5")
        let run = ["run", "-i", fleet.parquet, "-d", fleet.out, "--manifest-format", "parquet"] + words + fleet.local + fleet.connection
        let outcome = try await fleet.outcome(python: TablePython.folder, run)
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("20 URLs fetched, 0 failed, 1 listed more than once, 2 invalid; 23 rows, "), "\(outcome.output)")
        #expect(outcome.errors.contains("line 21: not a URL that can be fetched: the URL is empty\n"), "\(outcome.errors)")
        let lines = try fleet.manifest()
        expectRows(lines, urls)
        let read = try await TablePython.run(
            "table = pq.read_table(sys.argv[1])\nprint(table.schema.field('similarity').type)\nfor row in table.to_pylist(): print(json.dumps(row))",
            [fleet.out + "/manifest.parquet"]
        ).split(separator: "\n")
        #expect(read.first == "double" && read.count == lines.count + 1)
        for (row, line) in zip(read.dropFirst(), lines) {
            let row = try #require(try JSONSerialization.jsonObject(with: Data(row.utf8)) as? [String: Any])
            for key in ["line", "bytes", "httpStatus"] { #expect(row[key] as? Int == line[key] as? Int) }
            for key in ["url", "outcome", "sha256", "file", "id"] { #expect(row[key] as? String == line[key] as? String) }
            #expect(row["TEXT"] as? String == (line["carried"] as? [String: Any])?["TEXT"] as? String)
            #expect(row["errorClass"] as? String == (line["error"] as? [String: Any])?["class"] as? String)
        }
        try await fleet.stop()
    }

    @Test func `a run that was killed goes on, and its rows keep their numbers`() async throws {
        let fleet = try await Fleet.start(files: 60)
        let gate = try fleet.gateList(after: 30)
        let urls = try String(contentsOfFile: fleet.list, encoding: .utf8).split(separator: "\n").map(String.init)
        try await fleet.makeTable(of: urls, options: ", row_group_size=7")
        let run = ["run", "-i", fleet.parquet, "-d", fleet.out, "--concurrency", "2"] + words + fleet.local + fleet.connection
        let script = "PATH='\(TablePython.folder)':\"$PATH\"; export PATH; exec \"$0\" \"$@\" --verbose"
        let child = try fleet.start(script: script, run)
        var next = 0
        for _ in 0..<30 {
            _ = try #require(try await child.errors.line(from: next) { $0.hasPrefix("gannet: fetched ") }, "\(child.errors.text)")
            next = (child.errors.lines[next...].firstIndex { $0.hasPrefix("gannet: fetched ") } ?? next) + 1
        }
        try await gate.accepted(2)
        child.signal(SIGKILL)
        _ = try await child.exitStatus
        let outcome = try await fleet.outcome(python: TablePython.folder, run)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("there already"), "\(outcome.output)")
        expectRows(try fleet.manifest(), urls)
        try fleet.expectAllBodies()
        withExtendedLifetime(gate) {}
        try await fleet.stop()
    }

    @Test func `an export follows the list that was enqueued, with ids and columns that Redis never had`() async throws {
        let fleet = try await Fleet.start(files: 20)
        let urls: [String?] = fleet.origin.urls + [nil, fleet.origin.url("/nothing"), fleet.origin.urls[0]]
        try await fleet.makeTable(of: urls)
        let enqueued = try await fleet.outcome(
            python: TablePython.folder, ["enqueue", "-i", fleet.parquet, "--batch", "b"] + fleet.connection)
        #expect(enqueued.output.hasPrefix("Accepted 22 URLs; 1 invalid."), "\(enqueued.output) \(enqueued.errors)")
        #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection).status == 0)
        // A row that is in no batch.
        try await fleet.makeTable(of: urls + ["http://127.0.0.1:1/other"])
        let export = fleet.export + ["-i", fleet.parquet, "--manifest-format", "parquet"] + words
        let outcome = try await fleet.outcome(python: TablePython.folder, export)
        #expect(outcome.status == 1 && outcome.output.hasPrefix("20 bodies written, 1 failed; "), "\(outcome.output) \(outcome.errors)")
        #expect(outcome.errors.contains("1 row of the list names a URL that is not among the batch's ended ones"), "\(outcome.errors)")
        let lines = try fleet.manifest()
        expectRows(lines, urls + ["http://127.0.0.1:1/other"])
        let ends = lines.map { $0["outcome"] as? String ?? "" }
        #expect(ends == Array(repeating: "fetched", count: 20) + ["invalid", "failed", "cached", "failed"])
        let classes = lines.suffix(4).map { ($0["error"] as? [String: Any])?["class"] as? String }
        #expect(classes == ["invalid", "http-404", nil, "absent"])
        let again = try await fleet.outcome(python: TablePython.folder, export + ["--json"])
        let last = try #require(again.output.split(separator: "\n").last)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: [String: Any]])
        let counts = ["rows", "cached", "failed", "invalid", "listRows", "absent"].map { json["summary"]?[$0] as? Int }
        #expect(counts == [21, 20, 1, 1, 24, 1])
        #expect(try await TablePython.run("print(pq.read_table(sys.argv[1]).num_rows)", [fleet.out + "/manifest.parquet"]) == "24\n")
        try await fleet.stop()
    }

    @Test(arguments: ["csv", "tsv", "jsonl"])
    func `the columns of other lists are carried too`(format: String) async throws {
        let fleet = try await Fleet.start(files: 3)
        let rows = fleet.origin.urls.enumerated().map { ("\($1)", "a \"caption\" \($0)") }
        let text: String =
            switch format {
            case "csv": "url,TEXT\n" + rows.map { "\($0),\"\($1.replacing("\"", with: "\"\""))\"\n" }.joined()
            case "tsv": "TEXT\turl\n" + rows.map { "\"\($1.replacing("\"", with: "\"\""))\"\t\($0)\n" }.joined()
            default: rows.map { "{\"TEXT\": \"\($1.replacing("\"", with: "\\\""))\", \"url\": \"\($0)\"}\n" }.joined()
            }
        try fleet.folder.write(Array(text.utf8), to: "urls.txt")
        let outcome = try await fleet.outcome(fleet.run + ["--carry", "TEXT"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try fleet.manifest().map { ($0["carried"] as? [String: String])?["TEXT"] } == rows.map(\.1))
        try await fleet.stop()
    }

    @Test func `a machine or a file that cannot be read is one sentence, before anything is fetched`() async throws {
        let fleet = try await Fleet.start(files: 3)
        try await fleet.makeTable(of: fleet.origin.urls)
        try fleet.folder.write([UInt8](), to: "empty.parquet")
        try fleet.folder.write(Array("http://h/\n".utf8), to: "text.Parquet")
        try fleet.folder.write(try Data(contentsOf: URL(fileURLWithPath: fleet.parquet)).prefix(700), to: "cut.parquet")
        let noModule = try await TablePython.fake("HOME=/nonexistent exec \"$REAL\" -S \"$@\"", in: fleet.folder)
        let python = TablePython.folder
        let trials: [(String, [String], Int32, String)] = [
            (noModule, ["-i", fleet.parquet], 69, "has no module 'pyarrow'; install it with 'python3 -m pip install pyarrow'"),
            (noModule, ["-i", fleet.list, "--manifest-format", "parquet"], 69, "Error: Cannot write manifest.parquet: "),
            (python, ["-i", fleet.folder.file("empty.parquet")], 65, "it is empty, and no Parquet file"),
            (python, ["-i", fleet.folder.file("text.Parquet")], 65, "it does not begin as a Parquet file does; if it is something else"),
            (python, ["-i", fleet.folder.file("cut.parquet")], 65, "it is damaged, cut off or no Parquet file: "),
            (python, ["-i", fleet.folder.path, "--format", "parquet"], 65, "Is a directory."),
            (python, ["-i", "/dev/null", "--format", "parquet"], 65, "it is no Parquet file."),
            (
                python, ["-i", fleet.parquet, "--column", "u"], 65,
                "it has no column 'u'; its columns are 'URL', 'key', 'TEXT', 'similarity'."
            ),
            (python, ["-i", fleet.parquet, "--column", "key"], 65, "its column 'key' holds int64, and URLs are text"),
            (python, ["-i", fleet.parquet, "--field", "url"], 65, "'--field' does not apply to a Parquet file"),
            (python, ["-i", fleet.parquet, "--format", "csv"], 65, "it is a Parquet file, whose contents can only be read from a file"),
            (python, ["-i", fleet.list, "--carry", "TEXT"], 65, "'--carry' does not apply to a list of text"),
            (python, ["-i", fleet.parquet, "--carry", "TEXT,,key"], 64, "'--carry' has an empty name between its commas."),
            (python, ["-i", fleet.parquet, "--carry", "key,key"], 64, "'--carry' names 'key' twice."),
            (python, ["--carry", "key", fleet.origin.urls[0]], 64, "'--carry' says how to read an input file"),
        ]
        for (folder, words, status, sentence) in trials {
            let outcome = try await fleet.outcome(python: folder, ["run", "-d", fleet.out] + words + fleet.local + fleet.connection)
            #expect(outcome.status == status, "\(words): \(outcome.errors)")
            #expect(outcome.errors.contains(sentence), "\(words): \(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count { $0.hasPrefix("Error: ") } == 1, "\(outcome.errors)")
        }
        let piped = try await fleet.outcome(
            ["run", "-i", "-", "-d", fleet.out] + fleet.local + fleet.connection, input: fleet.parquet)
        #expect(piped.status == 65 && piped.errors.contains("Cannot read standard input: it is a Parquet file, "), "\(piped.errors)")
        #expect(try await fleet.requests().isEmpty)
        try await fleet.stop()
    }

    @Test func `a child that dies is an error after the rows that came, and leaves no manifest`() async throws {
        let fleet = try await Fleet.start(files: 3)
        try await fleet.makeTable(of: fleet.origin.urls)
        let row = "{\\\"u\\\":\\\"\(fleet.origin.urls[0])\\\"}"
        let dying = try await TablePython.fake("echo \"\(row)\"; printf '{\"u\":\"http://h/'; kill -9 $$", in: fleet.folder)
        let run = ["run", "-i", fleet.parquet, "-d", fleet.out] + fleet.local + fleet.connection
        let outcome = try await fleet.outcome(python: dying, run)
        #expect(outcome.status == 69, "\(outcome.errors)")
        #expect(outcome.errors.contains("python3, which reads Parquet files, has failed: signal 9 ended it."), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: fleet.manifestPath))
        #expect(try await fleet.outcome(python: TablePython.folder, run).status == 0)
        #expect(try fleet.manifest().count == 3)
        try await fleet.stop()
    }

    @Test func `a table of the manifest that cannot be written replaces nothing, and the next run writes it`() async throws {
        let fleet = try await Fleet.start(files: 3)
        // The check of the machine passes. The script that writes the table is another, and this one dies in the middle.
        let dying = try await TablePython.fake(
            "case \"$5\" in *write_manifest*) printf PAR1; kill -9 $$ ;; esac\nexec \"$REAL\" \"$@\"", in: fleet.folder)
        let run = fleet.run + ["--manifest-format", "parquet"]
        let table = fleet.out + "/manifest.parquet"
        let outcome = try await fleet.outcome(python: dying, run)
        #expect(outcome.status == 74, "\(outcome.errors)")
        #expect(
            outcome.errors.contains("manifest.parquet cannot be written (signal 9 ended it). manifest.jsonl is complete"),
            "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: table))
        #expect(try fleet.manifest().count == 3)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fleet.out).allSatisfy { !$0.hasPrefix(".gannet-") || $0 == ".gannet-lock" })
        #expect(try await fleet.outcome(python: TablePython.folder, run).status == 0)
        #expect(try await TablePython.run("print(pq.read_table(sys.argv[1]).num_rows)", [table]) == "3\n")
        try await fleet.stop()
    }
}
