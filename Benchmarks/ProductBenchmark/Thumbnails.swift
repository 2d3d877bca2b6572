// Linux only, like the program that makes thumbnails.
import BenchmarkKit
import Foundation
import GannetTestKit

/// Thumbnails that the gateway makes, beside `vipsthumbnail`. The pictures are in memory: the gateway's, or the system's for files.
struct Thumbnails {
    let stage: Stage
    let rounds: Int
    let isQuick: Bool

    private static let across = 320
    /// At a time: as many as programs that the gateway keeps.
    private static let atOnce = 2

    func run() async throws {
        let count = isQuick ? 20 : 200
        let files = stage.folder.file("photos")
        try await makePictures(count, in: files)
        let origin = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.isFast = true
                $0.directives = "location /photos/ { alias \(files)/; add_header Cache-Control max-age=36000; }"
            })
        try await stage.clear()
        let gateway = try await RunningGateway.start(stage, ["--memory", "1GB"])
        let list = stage.folder.file("pictures.conf")
        try writeFile(list, count) { number in
            let url = "\(gateway.address)/v1/picture?url=\(origin.url("/photos/\(number).jpg"))&width=\(Self.across)&format=jpeg"
            return "url = \"\(url)\"\noutput = /dev/null\n"
        }
        // Fetches the pictures.
        _ = try await ask(list)
        let options = "[Q=80,strip,optimize_coding]"
        let paths = (0..<count).map { "\(files)/\($0).jpg" }
        var contest = Contest([
            .init(name: "gannet serve", settings: "curl -Z --parallel-max \(Self.atOnce) '…/v1/picture?url=…&width=320&format=jpeg'") {
                // The kept thumbnails go, and the pictures stay in the gateway's memory.
                try await stage.clear()
                return try await gateway.measured(count) { try await ask(list) }
            },
            .init(
                name: "vipsthumbnail in a loop", omits: "HTTP, the store, the sandbox",
                settings: "xargs -P \(Self.atOnce) -n 1 vipsthumbnail --size 320x -o small-%s.jpg\(options)"
            ) {
                let words = ["-P", "\(Self.atOnce)", "-n", "1", "-a", try self.list(paths)] + command(options)
                return .init(count, try await Command("xargs", words, environment: Self.environment).run())
            },
            .init(
                name: "vipsthumbnail, one process", omits: "HTTP, the store, the sandbox, a second core",
                settings: "vipsthumbnail --size 320x -o small-%s.jpg\(options) FILE…"
            ) {
                let words = command(options).dropFirst() + paths
                return .init(count, try await Command("vipsthumbnail", Array(words), environment: Self.environment).run())
            },
        ])
        try await contest.run(rounds: rounds)
        contest.printTable("JPEG files of 1,600 × 1,200 pixels become JPEG files that are \(Self.across) pixels across", unit: "thumbnail")
        try await gateway.stop()
        try await origin.stop()
    }

    private static let environment = Peers.environment(["VIPS_CONCURRENCY": "1"])

    private func command(_ options: String) -> [String] {
        ["vipsthumbnail", "--size", "\(Self.across)x", "-o", stage.folder.path + "/small-%s.jpg\(options)"]
    }

    private func list(_ paths: [String]) throws -> String {
        let file = stage.folder.file("paths")
        try Data(paths.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        return file
    }

    /// Each has to be there.
    private func ask(_ list: String) async throws {
        let words = ["-q", "--silent", "--show-error", "--fail", "--parallel", "--parallel-max", "\(Self.atOnce)", "--config", list]
        _ = try await Command("curl", words).run()
    }

    /// Soft shades with some grain, as photos have them. The bytes behind the end of each file make another picture of it.
    private func makePictures(_ count: Int, in folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var random = SeededBytes(seed: 18)
        let grain = random.next(count: 1600 * 3)
        let png = MadePicture.png(1600, 1200) { x, y in
            let shade = UInt8(truncatingIfNeeded: (x * x / 20_000 + y / 8) & 0x7f)
            return (0..<3).map { shade &+ UInt8($0) &* 30 &+ grain[(x * 3 + y * 7 + $0) % grain.count] / 16 }
        }
        let source = stage.folder.file("photo.png")
        try Data(png).write(to: URL(filePath: source))
        let first = stage.folder.file("photo.jpg")
        _ = try await Command("vips", ["copy", source, first + "[Q=85]"]).run()
        let jpeg = try Data(contentsOf: URL(filePath: first))
        for number in 0..<count { try (jpeg + Data("\(number)".utf8)).write(to: URL(filePath: "\(folder)/\(number).jpg")) }
    }
}
