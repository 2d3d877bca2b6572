import Foundation
import GannetBase
import GannetTestKit
import Lists
import Testing

@testable import GannetHTTP
@testable import GannetQueue
@testable import Results

@Suite(.timeLimit(.minutes(3))) struct ManifestTests {
    private struct Fixture {
        let temporary: TemporaryFolder
        let folder: RecordedFolder

        init() async throws {
            temporary = try TemporaryFolder()
            folder = try await .open(BodyFolder(temporary.path))
        }

        func id(_ url: String) throws -> URLID { try Self.identify(Array(url.utf8)[...]) }

        @Sendable static func identify(_ row: ArraySlice<UInt8>) throws -> URLID {
            try #require(URLID(try CanonicalURL(bytes: row).id))
        }

        /// Has the folder hold a body, as a worker does.
        func bring(_ url: String, _ body: String) throws {
            let id = try id(url)
            let file = try folder.folder.place(try temporary.write(Array(body.utf8), to: ".gannet-x"), of: url, id: id)
            var record = JobRecord(id)
            record.status = 200
            record.bytes = body.utf8.count
            record.digest = SHA256Digest(of: body.utf8).bytes
            record.file = file
            _ = try folder.journal.append(record)
        }

        func manifest(_ rows: [Row]) async throws -> (ManifestTotals, [String]) {
            let manifest = try Manifest(in: folder, identify: Self.identify)
            try await manifest.add(rows)
            let totals = try await manifest.finish()
            return (totals, try String(contentsOfFile: folder.manifestPath, encoding: .utf8).split(separator: "\n").map(String.init))
        }
    }

    private static func row(_ line: Int, _ url: String, id: String? = nil) -> Row {
        Row(.line(line), .url(Array(url.utf8)[...]), id: id.map { Array($0.utf8)[...] })
    }

    @Test func `each row has its line, in the order of the input, with the first of its URL as the fetched one`() async throws {
        let fixture = try await Fixture()
        for url in ["http://h/a", "http://h/b", "http://h/c"] { #expect(fixture.folder.list(try fixture.id(url)) == .pending) }
        #expect(fixture.folder.list(try fixture.id("http://H:80/a")) == .repeated)
        try fixture.bring("http://h/a", "abc")
        var failed = JobRecord(try fixture.id("http://h/b"))
        failed.isFailed = true
        failed.status = 404
        (failed.errorClass, failed.errorMessage) = ("http-404", "a \"quote\"")
        _ = try fixture.folder.journal.append(failed)
        let (totals, lines) = try await fixture.manifest(
            [
                Self.row(1, "http://h/a", id: "ü\n"), Self.row(2, "no url"), Self.row(4, "http://me:secret@h/b"), Self.row(5, "http://h/b"),
                Self.row(6, "http://H:80/a"), Row(.argument(1), .url(Array("http://h/c".utf8)[...])),
                Row(.line(7), .invalid(.nul), id: Array("7".utf8)[...]),
            ].filter { if case .url(let bytes) = $0.content { !bytes.contains(0x40) } else { true } })
        let file = "\(try fixture.id("http://h/a").bytes.hexadecimal.prefix(3))/\(try fixture.id("http://h/a").bytes.hexadecimal)-a"
        let body =
            #""httpStatus":200,"bytes":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","contentType":null"#
        #expect(
            lines == [
                #"{"line":1,"url":"http://h/a","outcome":"fetched",\#(body),"durationMilliseconds":0,"file":"\#(file)","result":"new","fetchedAt":null,"error":null,"id":"ü\u000a"}"#,
                #"{"line":2,"url":"no url","outcome":"invalid","httpStatus":null,"bytes":null,"sha256":null,"contentType":null,"durationMilliseconds":null,"file":null,"result":null,"fetchedAt":null,"error":{"class":"invalid","message":"it must begin with http:// or https://"}}"#,
                #"{"line":5,"url":"http://h/b","outcome":"failed","httpStatus":404,"bytes":null,"sha256":null,"contentType":null,"durationMilliseconds":0,"file":null,"result":"failed","fetchedAt":null,"error":{"class":"http-404","message":"a \"quote\""}}"#,
                #"{"line":6,"url":"http://H:80/a","outcome":"cached",\#(body),"durationMilliseconds":null,"file":"\#(file)","result":"new","fetchedAt":null,"error":null}"#,
                #"{"line":null,"argument":1,"url":"http://h/c","outcome":"failed","httpStatus":null,"bytes":null,"sha256":null,"contentType":null,"durationMilliseconds":null,"file":null,"result":"failed","fetchedAt":null,"error":{"class":"abandoned","message":"The job ended without a fetch by this run. Its host was unreachable for too long, it was cancelled or deleted, its URL failed for another queue, or three workers died with it."}}"#,
                #"{"line":7,"url":null,"outcome":"invalid","httpStatus":null,"bytes":null,"sha256":null,"contentType":null,"durationMilliseconds":null,"file":null,"result":null,"fetchedAt":null,"error":{"class":"invalid","message":"it contains a NUL byte"},"id":"7"}"#,
            ])
        #expect((totals[.fetched], totals[.there], totals[.repeated], totals[.failed], totals[.invalid]) == (1, 0, 1, 2, 2))
        #expect(totals.bytes == 3 && totals.rows == lines.count)
    }

    @Test func `a password is not written down`() async throws {
        let fixture = try await Fixture()
        _ = fixture.folder.list(try fixture.id("http://me:secret@h/b"))
        let (_, lines) = try await fixture.manifest([Self.row(1, "http://me:secret@h/b")])
        #expect(lines[0].hasPrefix(#"{"line":1,"url":"http://h/b","outcome":"failed""#))
    }

    @Test func `rows that differ in user and password alone have the same url, and files of their own`() async throws {
        let fixture = try await Fixture()
        let urls = ["http://a:1@h/b", "http://b:2@h/b"]
        for url in urls {
            #expect(fixture.folder.list(try fixture.id(url)) == .pending)
            try fixture.bring(url, url)
        }
        let (_, lines) = try await fixture.manifest(urls.enumerated().map { Self.row($0 + 1, $1) })
        let objects = try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        #expect(objects.map { $0["url"] as? String } == ["http://h/b", "http://h/b"] && objects.map { $0["line"] as? Int } == [1, 2])
        #expect(Set(objects.compactMap { $0["file"] as? String }).count == 2)
    }

    @Test func `files of an earlier run are checked, and fetched again if they have changed`() async throws {
        let first = try await Fixture()
        let names = ["sound", "missing", "shorter", "changed", "link", "failed", "unlisted"]
        for name in names { try first.bring("http://h/\(name)", "body of \(name)") }
        var failed = JobRecord(try first.id("http://h/failed"))
        failed.isFailed = true
        _ = try first.folder.journal.append(failed)
        let folder = try await RecordedFolder.open(first.folder.folder)
        let path = { (name: String) in
            let id = try first.id("http://h/\(name)")
            return first.temporary.file(BodyName(of: "http://h/\(name)", id: id).relativePath)
        }
        try FileManager.default.removeItem(atPath: path("missing"))
        try Data("short".utf8).write(to: URL(fileURLWithPath: path("shorter")))
        try Data("body of_changed".utf8).write(to: URL(fileURLWithPath: path("changed")))
        try FileManager.default.moveItem(atPath: path("link"), toPath: first.temporary.file("moved"))
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: first.temporary.file("moved"))
        for name in names.dropLast() {
            #expect(try folder.list(first.id("http://h/\(name)")) == (name == "failed" ? .pending : .there), "\(name)")
        }
        let checked = try await folder.check()
        #expect(checked == .init(sound: 1, broken: 4))
        for name in names {
            #expect(
                try folder.wantsAgain(first.id("http://h/\(name)")) == ["missing", "shorter", "changed", "link"].contains(name), "\(name)")
        }
        #expect(folder.counts == .init(listed: 6, queued: 5, ended: 0))
    }

    @Test func `the earlier manifest stays until the new one is complete`() async throws {
        let fixture = try await Fixture()
        _ = fixture.folder.list(try fixture.id("http://h/a"))
        let (_, before) = try await fixture.manifest([Self.row(1, "http://h/a")])
        do {
            let manifest = try Manifest(in: fixture.folder, identify: Fixture.identify)
            try await manifest.add((1...5000).map { Self.row($0, "http://h/a") })
        }
        #expect(try String(contentsOfFile: fixture.folder.manifestPath, encoding: .utf8) == before[0] + "\n")
        // The last thread that used the unfinished file removes it.
        let left = { try FileManager.default.contentsOfDirectory(atPath: fixture.temporary.path).sorted() }
        try await eventually("the unfinished manifest is removed") { try left() == [".gannet", "manifest.jsonl"] }
    }
}
