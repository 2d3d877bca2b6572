import Foundation
import GannetFetch
import GannetTestKit

/// A process that fetches with the library, with answers kept in memory and on disk, until it is killed. `Tests/Chaos/soak.py` starts it beside
/// an origin, and has the same paths.
enum SoakReader {
    /// How it is started: this word, the port of the origin, and the folder for its disk tier.
    static let word = "soak-reader"

    private static let callers = 8
    private static let perSecond = 100

    /// A URL of the files that the origin has, as other processes ask for them.
    private static func file(_ number: Int, _ port: UInt16) -> String {
        let file = number * 7919 % 500
        return "http://host\(file % 50).soak.localhost:\(port)/\(file).bin"
    }

    static func run(_ words: [String]) async throws {
        guard words.count == 3, let port = UInt16(words[1]) else { throw KitError("\(word) needs a port and a folder") }
        let fetcher = try Fetcher(
            FetcherOptions {
                // Small enough to be full before anything is compared.
                $0.memoryLimit = 4_000_000
                $0.diskLimit = 16_000_000
                $0.diskFolder = URL(filePath: words[2])
                $0.allowedNetworks = ["127.0.0.0/8"]
            })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var number = caller
                    while true {
                        let kinds = ["new", "moved", "gone", "late", "cut"]
                        let kind = number % 100 < 90 ? "new" : kinds[number % kinds.count]
                        let own = "http://host\(number % 20).reader.localhost:\(port)/\(kind)/\(number)"
                        if let url = URL(string: number / callers % 2 == 0 ? file(number, port) : own) {
                            // Some of these have to fail.
                            _ = try? await fetcher.data(from: url)
                        }
                        number += callers
                        try await Task.sleep(for: .seconds(callers) / perSecond)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
