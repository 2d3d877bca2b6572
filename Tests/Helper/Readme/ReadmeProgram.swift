import Foundation
import GannetFetch

/// The program that the README shows. `ReadmeTests` compares its lines with these.
enum ReadmeProgram: HelperJob {
    /// The README's program is started by itself, and reads its own arguments.
    private enum CommandLine {
        @TaskLocal static var arguments: [String] = []
    }

    static func run(_ words: [String]) async throws {
        try await CommandLine.$arguments.withValue(words) { try await run() }
    }

    private static func run() async throws {
        // README: begin
        let fetcher = try Fetcher(
            FetcherOptions {
                $0.diskFolder = .temporaryDirectory.appending(path: "pictures")
                $0.allowedNetworks = ["127.0.0.0/8"]  // for a server of your own; the public internet is open
            })
        let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
        for await item in fetcher.images(from: urls) {
            do { print("\(item.url): a \(try item.result.get().format.name)") } catch { print(error) }
        }
        await fetcher.close()
        print("\(fetcher.statistics.downloads) downloaded, \(fetcher.statistics.diskHits) from the disk")
        // README: end
    }
}
