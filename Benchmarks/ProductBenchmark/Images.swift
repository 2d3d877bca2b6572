import BenchmarkKit
import GannetTestKit

/// A list of images on many hosts, as data sets are made from, beside img2dataset.
struct Images {
    let stage: Stage
    let rounds: Int
    let isQuick: Bool

    private static let images = 100
    private static let hosts = 1000
    private static let size = 20_000
    private static let places = 64

    func run() async throws {
        let count = isQuick ? 200 : 20_000
        let files = try TemporaryFolder()
        for number in 0..<Self.images { try files.write(SampleImage.jpeg(number, about: Self.size), to: "\(number).jpg") }
        let addresses = (0..<Self.hosts).map { "127.0.\(1 + $0 / 250).\(1 + $0 % 250)" }
        let origin = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.isFast = true
                $0.addresses += addresses
                $0.directives = "location /images/ { alias \(files.path)/; types { image/jpeg jpg; } }"
            })
        let list = stage.folder.file("images.txt")
        try writeFile(list, count) { number in
            "http://\(addresses[number % Self.hosts]):\(origin.port)/images/\(number % Self.images).jpg?number=\(number)\n"
        }
        let folder = FolderOfFiles(path: stage.folder.file("kept"))
        let fetch = Product(stage: stage).fetch(list, into: folder.path, .init(concurrency: Self.places))
        let peer = try img2dataset(list, folder.path, count)
        var contest = Contest([
            .init(name: "gannet run", settings: fetch.line) {
                try await folder.measure(fetch, count, on: stage, usesRedis: true)
            },
            .init(name: "img2dataset", omits: "no resumption within a shard of a list, new connections only", settings: peer.line) {
                try await folder.measure(peer, count, on: stage)
            },
        ])
        try await contest.run(rounds: rounds)
        contest.printTable(
            "A list of images of 20 KB on \(grouped(Self.hosts)) hosts to files, with their digests, \(Self.places) in flight",
            unit: "image")
        try await origin.stop()
    }

    /// As its own page advises: a process a core, and as many threads as the processor allows. It writes the images as they came.
    private func img2dataset(_ list: String, _ folder: String, _ count: Int) throws -> Command {
        let processes = Machine.cores
        return try Peers.python(
            "img2dataset",
            [
                "--url_list", list, "--output_folder", folder, "--output_format", "files", "--processes_count", "\(processes)",
                "--thread_count", "\(Self.places / processes)", "--number_sample_per_shard", "\(max(1, count / processes / 2))",
                "--resize_mode", "no", "--disable_all_reencoding", "True", "--extract_exif", "False",
            ])
    }
}

/// A small JPEG with a long comment, so that images of any size are real ones.
private enum SampleImage {
    static func jpeg(_ number: Int, about size: Int) throws -> [UInt8] {
        let small = try contents(ofFile: "Tests/PictureTests/Probe/Samples/baseline.jpg")
        var noise = SystemRandomNumberGenerator()
        let comment = (0..<size).map { _ in UInt8.random(in: 0...255, using: &noise) }
        // Behind the two bytes that begin each JPEG: the marker of a comment, and its length with that of the length itself.
        let length = size + 2
        return small[..<2] + [0xff, 0xfe, UInt8(length >> 8), UInt8(length & 0xff)] + comment + small[2...]
    }
}
