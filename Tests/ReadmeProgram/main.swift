import Foundation
import GannetFetch

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
