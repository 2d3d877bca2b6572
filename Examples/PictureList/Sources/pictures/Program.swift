import Foundation
import GannetFetch
import PictureTerminal

/// `swift run pictures <LIST` shows pictures as they come, day by day. `swift run pictures URL` makes one a favourite.
@main struct Program {
    static func main() async throws {
        let favourites = try Favourites(URL(filePath: "favourites.json"))
        for url in CommandLine.arguments.dropFirst() { try await favourites.add(url) }
        let starred = Set(try await favourites.all.map(\.id))
        guard CommandLine.arguments.count == 1 else { return }

        let text = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        // Loopback is permitted for a server of your own; the public internet always is.
        let fetcher = try Fetcher(FetcherOptions { $0.allowedNetworks = ["127.0.0.0/8"] })
        let list = PictureList(
            pictures(text), fetcher: fetcher, PictureListOptions { $0.arrangement = PictureArrangement(.newestFirst, by: .day) })
        list.show(await list.current.contents.pictures.map(\.id))
        var drawn = 0
        for await update in list.updates {
            let lines = lines(update, favourites: starred)
            // Back to the first line: the new lines replace the old ones.
            print(drawn > 0 ? "\u{1b}[\(drawn)F\u{1b}[J" : "", lines.joined(separator: "\n"), separator: "")
            drawn = lines.count
            if update.isSettled { break }
        }
        await fetcher.close()
    }
}
