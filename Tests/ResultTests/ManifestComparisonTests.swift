import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP
@testable import Results

@Suite struct ManifestComparisonTests {
    private static func row(_ url: String, _ digest: String?, _ error: String? = nil) -> String {
        let failure = error.map { "{\"class\":\"\($0)\",\"message\":\"m\"}" } ?? "null"
        let text = digest.map { "\"\($0)\"" } ?? "null"
        return
            "{\"url\":\"\(url)\",\"outcome\":\"\(error == nil ? "fetched" : "failed")\",\"sha256\":\(text),\"bytes\":3,\"error\":\(failure)}"
    }

    private static func compare(_ old: [String], _ new: [String]) throws -> (ManifestComparison, [ManifestComparison.Change]) {
        let folder = try TemporaryFolder()
        try folder.write(Array(old.joined(separator: "\n").utf8), to: "old")
        try FileManager.default.createDirectory(atPath: folder.file("new"), withIntermediateDirectories: false)
        try folder.write(Array((new.joined(separator: "\n") + "\n").utf8), to: "new/manifest.jsonl")
        let comparison = try ManifestComparison(folder.file("old"), folder.file("new"), folder: folder.path)
        var changes: [ManifestComparison.Change] = []
        try comparison.run { changes.append($0) }
        return (comparison, changes)
    }

    @Test func `each URL counts once, with its first row, in the order of the later manifest`() throws {
        let old = [
            Self.row("http://h/same", "aa"), Self.row("http://h/gone", "bb"), Self.row("http://h/changed", "cc"),
            Self.row("http://h/same", nil, "x"),
            Self.row("http://h/lost", "dd"), Self.row("http://h/bad", nil, "timeout"), Self.row("http://h/mended", nil, "connect"),
        ]
        let new = [
            Self.row("http://h/mended", "ee"), Self.row("http://h/new", nil, "http-404"), Self.row("http://h/changed", "ca"),
            Self.row("http://h/lost", nil, "http-410"), Self.row("http://h/bad", nil, "connect"), Self.row("http://h/same", "aa"),
            Self.row("http://h/new", "ff"), Self.row("http://h/changed", "cc"),
        ]
        let (comparison, changes) = try Self.compare(old, new)
        #expect(
            changes.map { "\($0.kind) \($0.url)" } == [
                "mended http://h/mended", "added http://h/new", "changed http://h/changed", "failed http://h/lost", "removed http://h/gone",
            ])
        #expect(comparison.same == 2 && comparison.unreadable == 0)
        #expect(changes[2].old?.sha256 == "cc" && changes[2].new?.sha256 == "ca" && changes[3].new?.error?.class == "http-410")
        #expect(changes[1].old == nil && changes[4].new == nil)
    }

    @Test func `lines that are no rows are counted, and empty files have no changes`() throws {
        let long = String(repeating: "x", count: 300_000)
        let (comparison, changes) = try Self.compare(
            ["{", "", "[]", Self.row("http://h/a", "aa"), long],
            [Self.row("http://h/a", "aa"), "null", "{\"outcome\":\"failed\",\"url\":null}"])
        #expect(changes.isEmpty && comparison.same == 1 && comparison.unreadable == 3)
        for (old, new) in [(["x", "y"], [Self.row("http://h/a", "aa")]), ([Self.row("http://h/a", "aa")], ["{\"a\":1}"])] {
            #expect(throws: StorageFailure.self) { _ = try Self.compare(old, new) }
        }
        let (none, nothing) = try Self.compare([], [])
        #expect(nothing.isEmpty && none.same == 0 && none.counts.isEmpty)
    }

    @Test(.timeLimit(.minutes(3))) func `many URLs are compared in a table of bounded size`() throws {
        let old = (0..<50_000).map { Self.row("http://h/\($0)", "aa") }
        let new = (10_000..<60_000).reversed().map { Self.row("http://h/\($0)", $0 % 10 == 0 ? "ab" : "aa") }
        let (comparison, _) = try Self.compare(old, new)
        #expect(comparison.counts == [.changed: 4000, .added: 10_000, .removed: 10_000] && comparison.same == 36_000)
    }

    @Test func `a pipe and a missing file are refused`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StorageFailure.self) { try ManifestComparison(folder.file("no"), folder.path, folder: folder.path) }
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(throws: StorageFailure.self) { try ManifestComparison(folder.file("pipe"), folder.file("pipe"), folder: folder.path) }
    }
}
