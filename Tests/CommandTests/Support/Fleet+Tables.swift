import Foundation
import GannetTestKit
import Testing

extension Fleet {
    var parquet: String { folder.file("list.parquet") }

    /// Makes a Parquet list with a row for each URL: its number as `key`, and a caption.
    func makeTable(of urls: [String?], options: String = "") async throws {
        let json = String(decoding: try JSONSerialization.data(withJSONObject: urls.map { $0 ?? NSNull() as Any }), as: UTF8.self)
        try folder.write(Array(json.utf8), to: "urls.json")
        _ = try await TablePython.run(
            """
            urls = json.load(open(sys.argv[1]))
            numbers = range(1, len(urls) + 1)
            table = {"URL": urls, "key": list(numbers), "TEXT": [f"caption {i}" for i in numbers], "similarity": [i / 8 for i in numbers]}
            pq.write_table(pa.table(table), sys.argv[2]\(options))
            """, [folder.file("urls.json"), parquet])
    }

    /// Runs a command with this `python3`.
    func outcome(python folder: String = TablePython.folder, _ words: [String]) async throws -> Program.Outcome {
        try await outcome(words, with: ["PATH": "\(folder):\(program.environment["PATH"] ?? "")"])
    }

    /// The manifest's lines.
    func manifest() throws -> [[String: Any]] {
        try String(contentsOfFile: manifestPath, encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
