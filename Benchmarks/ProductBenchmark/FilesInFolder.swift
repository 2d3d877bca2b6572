// Linux only, as its origin is.
import BenchmarkKit
import GannetTestKit

/// A list of URLs whose bodies become files in a folder. The origin has a latency and no other limit.
struct FilesInFolder {
    let stage: Stage
    let rounds: Int
    let isQuick: Bool

    private static let places = 64
    private static let latency = Duration.milliseconds(50)
    private static let bodySize = 10_000

    func run() async throws {
        let count = isQuick ? 2000 : 20_000
        let origin = try LateOrigin(latency: Self.latency, bodySize: Self.bodySize)
        let url = { (number: Int) in origin.url("/a/path/of/usual/length/\(number)") }
        let list = stage.folder.file("files-list")
        try writeFile(list, count) { url($0) + "\n" }
        // aria2c starts new downloads about once a second, and would take minutes for all of them.
        let fewer = min(count, 2000)
        let shortList = stage.folder.file("short-list")
        try writeFile(shortList, fewer) { url($0) + "\n" }
        let folder = FolderOfFiles(path: stage.folder.file("kept"))
        let kept = folder.path
        let toNowhere = try Curl(stage.folder, count, url).command(inFlight: Self.places)
        let toFiles = try Curl(stage.folder, count, into: kept, url).command(inFlight: Self.places)
        let product = Product(stage: stage)
        let fetch = product.fetch(list, into: kept, .init(concurrency: Self.places, hostLimit: 2 * Self.places))
        let places = "\(Self.places)"
        let less = "no retries by class, no resumption, no digest, no manifest"

        var contest = Contest([
            .init(name: "gannet run", settings: fetch.line) {
                try await folder.measure(fetch, count, on: stage, usesRedis: true)
            },
            .init(name: "`curl -Z` to /dev/null", omits: "files; \(less)", settings: toNowhere.line) {
                Contest.Run(count, try await toNowhere.run())
            },
            .init(name: "`curl -Z` to files", omits: less, settings: toFiles.line) {
                try await folder.measure(toFiles, count, on: stage)
            },
        ])
        let others = [
            Command(
                "aria2c",
                [
                    "--no-conf", "--quiet", "-i", shortList, "-d", kept, "-j", places, "-x", "1", "-s", "1", "--file-allocation=none",
                    "--summary-interval=0", "--download-result=hide",
                ]),
            Command("wget2", ["--no-config", "-q", "-i", list, "-P", kept, "--max-threads=\(places)"]),
            try Peers.python("python", ["files.py", list, kept, places]),
        ]
        for (name, command) in zip(["aria2c", "wget2", "a program with aiohttp"], others) {
            let count = name == "aria2c" ? fewer : count
            contest.add(
                .init(name: name, omits: less, settings: command.line) {
                    try await folder.measure(command, count, on: stage)
                })
        }
        try await contest.run(rounds: rounds)
        contest.printTable(
            "10 KB bodies to files, \(Self.places) in flight, an origin of 50 ms: at most \(rate(Double(Self.places) / 0.05))", unit: "URL")
        try await origin.stop()
    }
}
