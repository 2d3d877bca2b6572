import Foundation
import GannetTestKit
import Testing

/// `run --verify`, by the real binary at a real origin.
@Suite(.timeLimit(.minutes(2))) struct VerifyTests {
    private struct Row: Decodable {
        struct Failure: Decodable {
            let `class`: String
            let message: String
        }
        let url: String
        let outcome: String
        let file: String?
        let carried: [String: String?]?
        let error: Failure?
    }

    /// Of `hello`.
    private static let (sha256, md5) = (
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", "5d41402abc4b2a76b9719d911017c592"
    )

    private static func start() async throws -> Fleet {
        try await Fleet.start {
            $0.fileCount = 1
            $0.directives = "location / { return 200 hello; }"
        }
    }

    /// Runs a list of one row for each digest, as it stands in the column.
    private static func rows(_ fleet: Fleet, _ algorithm: String, _ digests: [String], _ words: [String] = []) async throws -> [Row] {
        let lines = digests.enumerated().map { "\(fleet.origin.url("/\($0)")),\($1),\($0)" }
        try fleet.folder.write(Array((["url,digest,n"] + lines).joined(separator: "\n").utf8), to: "urls.txt")
        let outcome = try await fleet.outcome(fleet.run + ["--verify", "\(algorithm):digest", "--max-failures", "100%"] + words)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try fleet.manifest()
    }

    @Test(arguments: [("sha256", sha256), ("md5", md5)])
    func `a body is stored if it has the digest of its row, or the row has none`(algorithm: String, digest: String) async throws {
        let fleet = try await Self.start()
        let other = String(digest.dropLast()) + "0"
        let digests = [digest, " \(digest.uppercased()) ", "", other, "no digest", String(digest.dropLast())]
        let rows = try await Self.rows(fleet, algorithm, digests)
        #expect(rows.map(\.outcome) == ["fetched", "fetched", "fetched", "failed", "failed", "failed"])
        #expect(rows.map { $0.file != nil } == [true, true, true, false, false, false])
        #expect(rows.suffix(3).allSatisfy { $0.error?.class == "digest-mismatch" })
        #expect(rows[3].error?.message == "Its \(algorithm) is \(digest), and the list says \(other).")
        #expect(rows[4].error?.message == "The list names no \(algorithm) of \(digest.count) hexadecimal digits for it.")
        #expect(rows.map { $0.carried?["digest"] ?? nil } == digests)
        #expect(try fleet.bodies().count == 3)
        try await fleet.stop()
    }

    @Test func `a page that was served as a picture is stored, and its row and the run say so, also when it is there already`() async throws
    {
        let fleet = try await Fleet.start {
            $0.fileCount = 1
            $0.directives = """
                location = /page.png { default_type image/png; return 200 "<!doctype html><title>Blocked</title>"; }
                location = /page { default_type text/html; return 200 "<!doctype html><title>Fine</title>"; }
                """
        }
        let urls = ["/page.png", "/page"].map(fleet.origin.url)
        for (path, words) in [("files", []), ("warc", ["--output-format", "warc"])] {
            for outcome in ["fetched", "cached"] {
                let folder = fleet.folder.file(path)
                let run = try await fleet.outcome(["run", "-d", folder] + urls + words + fleet.local + fleet.connection)
                let warning = "gannet: 1 body is not what its type says: 'typeMismatch' in manifest.jsonl tells.\n"
                #expect(run.status == 0 && run.errors.contains(warning), "\(run.errors)")
                let lines = try String(contentsOfFile: folder + "/manifest.jsonl", encoding: .utf8).split(separator: "\n")
                let rows = try lines.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
                #expect(rows.map { $0["outcome"] as? String } == [outcome, outcome])
                #expect(rows.map { $0["contentType"] as? String } == ["image/png", "text/html"])
                #expect(rows.map { $0["typeMismatch"] as? String } == ["it looks like HTML", nil], "\(rows)")
            }
        }
        try await fleet.stop()
    }

    @Test func `a row whose body had another digest is fetched again by the next run, and other rows are not`() async throws {
        let fleet = try await Self.start()
        let other = String(Self.sha256.dropLast()) + "0"
        _ = try await Self.rows(fleet, "sha256", [Self.sha256, other])
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n", "a body that was refused is not lost")
        let rows = try await Self.rows(fleet, "sha256", [Self.sha256, Self.sha256], ["--carry", "digest,n"])
        #expect(rows.map(\.outcome) == ["cached", "fetched"])
        #expect(rows[1].carried == ["digest": Self.sha256, "n": "1"])
        #expect(try await fleet.requests().values.sorted() == [1, 2])
        try await fleet.stop()
    }

    @Test(arguments: [("sha256", sha256), ("md5", md5)], [[], ["--output-format", "shards"]] as [[String]])
    func `a row that names another body than its URL has fails, also for a later row and a later run`(
        digest pair: (String, String), words: [String]
    ) async throws {
        let fleet = try await Self.start()
        let (algorithm, digest) = pair
        let other = String(digest.dropLast()) + "0"
        func rows(_ digests: [String]) async throws -> [Row] {
            let lines = digests.map { "\(fleet.origin.url("/0")),\($0)" }
            try fleet.folder.write(Array((["url,digest"] + lines).joined(separator: "\n").utf8), to: "urls.txt")
            let outcome = try await fleet.outcome(fleet.run + ["--verify", "\(algorithm):digest"] + words)
            #expect(outcome.status == (digests.contains(other) ? 1 : 0), "\(outcome.errors)")
            return try fleet.manifest()
        }
        let first = try await rows([digest, other, digest, ""])
        #expect(first.map(\.outcome) == ["fetched", "failed", "cached", "cached"])
        #expect(first.map { $0.file != nil } == [true, false, true, true])
        #expect(first[1].error?.class == "digest-mismatch")
        #expect(first[1].error?.message == "The body of its URL has the \(algorithm) \(digest), and the row says \(other).")
        #expect(try await rows([other]).map(\.outcome) == ["failed"])
        #expect(try await rows([digest]).map(\.outcome) == ["cached"])
        #expect(try await fleet.requests().values.sorted() == [1])
        try await fleet.stop()
    }

    @Test func `a body that an earlier run has fetched without a digest is compared with the MD5 of its row`() async throws {
        let fleet = try await Self.start()
        #expect(try await fleet.outcome(["run", "-d", fleet.out, fleet.origin.url("/0")] + fleet.local + fleet.connection).status == 0)
        let other = String(Self.md5.dropLast()) + "0"
        #expect(try await Self.rows(fleet, "md5", [other]).map(\.outcome) == ["failed"])
        #expect(try await Self.rows(fleet, "md5", [Self.md5]).map(\.outcome) == ["cached"])
        #expect(try await fleet.requests().values.sorted() == [1])
        try await fleet.stop()
    }

    @Test func `an option that names no digest or no column is refused`() async throws {
        let fleet = try await Self.start()
        for text in ["digest", "sha1:digest", "md5:", ":digest"] {
            let wrong = try await fleet.outcome(fleet.run + ["--verify", text])
            #expect(wrong.status == 64 && wrong.errors.contains("is neither 'sha256:COLUMN' nor 'md5:COLUMN'"), "\(wrong.errors)")
        }
        let missing = try await fleet.outcome(fleet.run + ["--verify", "md5:nothing"])
        #expect(missing.status == 65, "\(missing.errors)")
        try await fleet.stop()
    }
}
