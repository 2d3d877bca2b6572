import Foundation
import GannetFetch

let fetcher = try Fetcher(
    FetcherOptions {
        $0.diskFolder = NSTemporaryDirectory() + "pictures"
        $0.allowedNetworks = ["127.0.0.0/8"]  // for a server of your own; the public internet is open
    })
let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
for (url, image) in await fetcher.images(from: urls) {
    do { print("\(url): a picture of \(try image.get().count) bytes") } catch { print(error) }
}
await fetcher.close()
print("\(fetcher.statistics.downloads) downloaded, \(fetcher.statistics.diskHits) from the disk")
