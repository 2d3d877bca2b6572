import Foundation
import GannetFetch
import PictureList

/// `swift run pictures URL…`: shows a list of pictures as they come.
@main struct Pictures {
    @MainActor static func main() async throws {
        let urls = CommandLine.arguments.dropFirst().compactMap { URL(string: $0) }
        // Loopback is permitted for a server of your own; the public internet always is.
        let fetcher = try Fetcher(FetcherOptions { $0.allowedNetworks = ["127.0.0.0/8"] })
        let list = PictureList(urls, fetcher: fetcher)
        list.changed = { url in
            switch list.rows[url] {
            case .placeholder: print("…   \(url)")
            case .picture(let image): print("ok  \(url): \(image.format.name), \(image.size.map { "\($0)" } ?? "any size")")
            case .failed(let error): print("—   \(error)")
            case nil: break
            }
        }
        for url in urls { list.appeared(url) }
        await list.settled()
        await fetcher.close()
    }
}
