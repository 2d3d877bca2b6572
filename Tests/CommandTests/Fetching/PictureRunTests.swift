import Foundation
import GannetBase
import GannetPictures
import GannetTestKit
import Results
import Testing

/// `run --resize`, by the real binaries at a real origin.
@Suite(.timeLimit(.minutes(3)), .enabled(if: MachineNeed.canMakeThumbnails)) struct PictureRunTests {
    private struct Row: Decodable {
        struct Failure: Decodable {
            let `class`: String
            let message: String
        }

        let url: String
        let outcome: String
        let httpStatus: Int?
        let bytes: Int?
        let sha256: String?
        let file: String?
        let width: Int?
        let height: Int?
        let originalWidth: Int?
        let originalHeight: Int?
        let fileBytes: Int?
        let fileSha256: String?
        let error: Failure?
    }

    /// An origin with pictures at `/p/`, by the names of their files.
    private static func start(_ pictures: [String: [UInt8]]) async throws -> Fleet {
        let folder = try TemporaryFolder()
        for (name, bytes) in pictures { try folder.write(bytes, to: name) }
        let fleet = try await Fleet.start {
            $0.fileCount = 1
            $0.directives = "location /p/ { alias \(folder.path)/; }"
        }
        let urls = pictures.keys.sorted().map { fleet.origin.url("/p/\($0)") }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        // The origin reads its files until it stops.
        Self.kept.withLock { $0.append(folder) }
        return fleet
    }

    private static let kept = Mutex<[TemporaryFolder]>([])

    private func manifest(_ fleet: Fleet) throws -> [String: Row] {
        let rows: [Row] = try fleet.manifest()
        return rows.reduce(into: [:]) { $0[String($1.url.split(separator: "/").last ?? "")] = $1 }
    }

    private static let wide = MadePicture.png(200, 100)
    private static let pictures: [String: [UInt8]] = [
        "wide.png": wide, "high.png": MadePicture.png(50, 400), "large.php": MadePicture.png(900, 700), "small.gif": MadePicture.gif(9, 9),
        "page.jpg": Array("<html>not here</html>".utf8), "cut.png": Array(wide.prefix(wide.count / 2)),
    ]

    @Test func `a refreshed run keeps a picture whose original has not changed`() async throws {
        let fleet = try await Self.start(["wide.png": Self.wide, "small.gif": MadePicture.gif(9, 9)])
        let run = fleet.run + ["--resize", "64", "--min-size", "20", "--robots", "ignore", "--refresh"]
        #expect(try await fleet.outcome(run).status == 1)
        let first = try manifest(fleet)
        let second = try await fleet.outcome(run)
        // A picture that is too small has no file, and is asked for as a whole.
        #expect(second.output.hasPrefix("0 URLs fetched, 1 unchanged, 1 failed (picture-too-small 1); "), "\(second.output)")
        #expect(try await fleet.origin.requests().map(\.status).sorted() == [200, 200, 200, 304])
        let rows = try manifest(fleet)
        #expect(rows["wide.png"]?.outcome == "revalidated" && rows["wide.png"]?.fileSha256 == first["wide.png"]?.fileSha256)
        try await fleet.stop()
    }

    @Test func `a run stores pictures in place of bodies, and its manifest has their sizes and the digests of both`() async throws {
        let fleet = try await Self.start(Self.pictures)
        let options = ["--resize", "64", "--resize-mode", "keep-ratio", "--min-size", "20"]
        let outcome = try await fleet.outcome(fleet.run + options)
        #expect(outcome.status == 1, "\(outcome.errors)")
        let counted = "3 URLs fetched, 3 failed (not-a-picture 1, picture-broken 1, picture-too-small 1)"
        #expect(outcome.output.contains(counted), "\(outcome.output)")
        let rows = try manifest(fleet)
        #expect(rows.count == 6)
        for (name, size) in [("wide.png", (128, 64)), ("high.png", (64, 512)), ("large.php", (82, 64))] {
            let row = try #require(rows[name])
            let original = try #require(Self.pictures[name])
            let file = try #require(row.file)
            let stored = try contents(ofFile: fleet.out + "/" + file)
            #expect(row.outcome == "fetched" && row.sha256 == sha256(of: original) && row.bytes == original.count)
            #expect(row.fileSha256 == sha256(of: stored) && row.fileBytes == stored.count)
            let expected = name == "large.php" ? "-large.php.jpg" : "-\(name.dropLast(4)).jpg"
            #expect(file.hasSuffix(expected), "\(file)")
            let (info, before) = (try ImageProbe().examine(stored), try ImageProbe().examine(original))
            #expect(info == ImageInfo(format: .jpeg, size: ImageSize(width: size.0, height: size.1)), "\(name)")
            #expect(row.width == size.0 && row.height == size.1)
            #expect(row.originalWidth == before.size?.width && row.originalHeight == before.size?.height)
        }
        for (name, error) in [("small.gif", "picture-too-small"), ("page.jpg", "not-a-picture"), ("cut.png", "picture-broken")] {
            let row = try #require(rows[name])
            #expect(row.outcome == "failed" && row.error?.class == error && row.error?.message.isEmpty == false, "\(name)")
            #expect(row.file == nil && row.width == nil && row.httpStatus == 200)
        }
        #expect(rows["page.jpg"]?.error?.message == "It was served as image/jpeg, and it looks like HTML.")
        #expect(try fleet.bodies().count == 3)
        try await fleet.stop()
    }

    @Test func `the next run requests no picture that is there and none that is too small, and again what was no picture`() async throws {
        let fleet = try await Self.start(Self.pictures)
        let options = ["--resize", "64", "--min-size", "20", "--picture-format", "webp"]
        #expect(try await fleet.outcome(fleet.run + options).status == 1)
        let again = try await fleet.outcome(fleet.run + options)
        #expect(again.output.hasPrefix("0 URLs fetched, 3 there already, 3 failed"), "\(again.output)")
        let requests = try await fleet.requests()
        for name in ["wide.png", "high.png", "large.php", "small.gif"] { #expect(requests["/p/\(name)"] == 1, "\(name)") }
        for name in ["page.jpg", "cut.png"] { #expect(requests["/p/\(name)"] == 2, "\(name)") }
        // A changed file is made again, of a body that is fetched again.
        let file = try #require(manifest(fleet)["wide.png"]?.file)
        #expect(file.hasSuffix("-wide.webp"))
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: fleet.out + "/" + file))
        let third = try await fleet.outcome(fleet.run + options)
        #expect(third.output.hasPrefix("1 URL fetched, 2 there already, 3 failed"), "\(third.output)")
        try await fleet.stop()
    }

    @Test func `a folder keeps the options for pictures with which it was begun`() async throws {
        let fleet = try await Self.start(["wide.png": Self.wide])
        #expect(try await fleet.outcome(fleet.run + ["--resize", "64"]).status == 0)
        for other in [["--resize", "65"], ["--resize", "64", "--resize-mode", "no"], ["--resize", "64", "--picture-format", "png"], []] {
            let outcome = try await fleet.outcome(fleet.run + other)
            #expect(outcome.status == 64, "\(other): \(outcome.output)")
            #expect(
                outcome.errors.contains(
                    "was begun with '--resize 64 --resize-mode border --picture-format jpg --picture-quality 95'. Choose the same options"),
                "\(outcome.errors)")
        }
        // The usual values may be typed.
        let typed = try await fleet.outcome(fleet.run + ["--resize", "64", "--resize-mode", "border", "--picture-quality", "95"])
        #expect(typed.status == 0, "\(typed.errors)")
        let plain = fleet.folder.file("plain")
        let run = ["run", "-i", fleet.list, "-d", plain] + fleet.local + fleet.connection
        #expect(try await fleet.outcome(run).status == 0)
        let outcome = try await fleet.outcome(run + ["--min-size", "5"])
        #expect(outcome.status == 64 && outcome.errors.contains("was begun without options for pictures"), "\(outcome.errors)")
        try await fleet.stop()
    }

    @Test func `without the program for pictures nothing is fetched, and no folder is made`() async throws {
        let fleet = try await Self.start(["wide.png": Self.wide])
        for program in ["/nowhere/gannet-thumbnail", "/bin/true"] {
            let outcome = try await fleet.outcome(fleet.run + ["--resize", "64", "--thumbnail-program", program])
            #expect(outcome.status == 69 && outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        }
        #expect(try await fleet.requests().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: fleet.out))
        try await fleet.stop()
    }

    @Test func `a killed run goes on, and requests no picture twice that it had stored`() async throws {
        var pictures: [String: [UInt8]] = [:]
        for number in 0..<300 { pictures["\(number).png"] = MadePicture.png(40 + number, 60) }
        let fleet = try await Self.start(pictures)
        let options = ["--resize", "32", "--resize-mode", "center-crop"]
        let child = try await fleet.start(fleet.run + options, untilFetched: 60)
        child.signal(SIGKILL)
        _ = try await child.exitStatus
        let stored = try fleet.bodies().filter { !$0.hasPrefix(".gannet-") }
        #expect(stored.count >= 60)
        let outcome = try await fleet.outcome(fleet.run + options)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let rows = try manifest(fleet)
        #expect(rows.count == 300)
        for (name, row) in rows {
            let info = try ImageProbe().examine(try contents(ofFile: fleet.out + "/" + #require(row.file)))
            #expect(info.size == ImageSize(width: 32, height: 32) && row.sha256 == sha256(of: pictures[name] ?? []), "\(name)")
        }
        // A picture that was told of is in the record.
        let told = child.errors.lines.filter { $0.hasPrefix("gannet: fetched ") }
        let requests = try await fleet.requests()
        #expect(told.count >= 60)
        for line in told {
            let word = line.split(separator: " ").first { $0.contains("/p/") } ?? ""
            let name = word.split(separator: "/").last?.prefix { $0.isNumber } ?? ""
            #expect(requests["/p/\(name).png"] == 1, "\(line)")
        }
        try await fleet.stop()
    }

    @Test func `pictures go into shards while a row of the list waits, with their sizes`() async throws {
        let fleet = try await Self.start(["a.png": Self.wide, "b.png": Self.wide, "page.jpg": Array("no picture".utf8)])
        let gate = try HostileServer(scripts: [[.silence]])
        let urls = try String(contentsOfFile: fleet.list, encoding: .utf8)
        try fleet.folder.write(Array("http://127.0.0.1:\(gate.port)/gate\n\(urls)".utf8), to: "urls.txt")
        let run = try fleet.start(fleet.run + ["--resize", "64", "--output-format", "shards", "--samples-per-shard", "2"])
        try await eventually("the shard is complete") { FileManager.default.fileExists(atPath: "\(fleet.out)/00000.tar") }
        #expect(run.isRunning)
        for sample in try ShardWriter.samples(inShard: 0, of: fleet.out) {
            #expect(sample.names == ["\(sample.key).jpg", "\(sample.key).json"])
        }
        let shard = String(decoding: try contents(ofFile: "\(fleet.out)/00000.tar"), as: UTF8.self)
        #expect(shard.components(separatedBy: #""width":64,"height":64,"originalWidth":200,"originalHeight":100,"#).count == 3)
        try await fleet.stop()
        withExtendedLifetime(gate) {}
    }

    @Test func `options for pictures that contradict each other are refused with a sentence`() async throws {
        let program = Program(home: "/dev/null/none")
        for (words, part) in [
            (["--resize-mode", "border"], "needs a size"), (["--resize-only-if-bigger"], "needs a size"),
            (["--picture-format", "png", "--picture-quality", "9"], "is for jpg and webp"), (["--resize", "0"], "1"),
            (["--resize", "64", "--output-format", "warc"], "as they were sent"), (["--max-aspect", "0.5"], "from 1"),
            (["--max-aspect", "2.5555"], "three decimal places"),
        ] {
            let outcome = try await program.run(["run", "-d", "/nowhere", "http://127.0.0.1/"] + words)
            #expect(outcome.status == 64 && outcome.errors.contains(part), "\(words): \(outcome.errors)")
        }
    }
}
