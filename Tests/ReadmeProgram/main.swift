import Foundation
import GannetFetch

// Fetches all pictures it is given, several at a time and each once, and says what they are.
let fetcher = try Fetcher(
    FetcherOptions {
        $0.diskFolder = NSTemporaryDirectory() + "pictures"
        $0.allowedNetworks = ["127.0.0.0/8"]  // for a server of your own; the public internet always is
    })
let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
await withTaskGroup { group in
    for url in urls {
        group.addTask {
            do {
                let image = try await fetcher.image(from: url)
                print("\(url): \(image.format.name), \(image.size.map { "\($0)" } ?? "any size"), \(image.data.count) bytes")
            } catch {
                print(error)
            }
        }
    }
}
await fetcher.close()
print("\(fetcher.statistics.downloads) downloaded, \(fetcher.statistics.diskHits) from the disk")
