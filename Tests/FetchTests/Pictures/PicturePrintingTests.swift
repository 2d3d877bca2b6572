import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

/// Pictures whose URL has a secret do not show it, nor does what holds them. A picture's `id` is its URL unless another is given.
struct PicturePrintingTests {
    private static let secret = "hunter2"

    @Test func `a secret is in no text of what holds it, and the rest is`() async throws {
        let folder = try TemporaryFolder()
        let url = try #require(URL(string: "https://user:hunter2@example.com/a?token=hunter2&page=7"))
        let picture = Picture(url)
        let fetcher = try Fetcher { request in FetchResponse(Samples.png, from: request.url) }
        let list = PictureList([picture], fetcher: fetcher)
        list.show([picture.id])
        let update = try await list.settled()
        #expect(update.cells.keys.contains(picture.id))
        let section = try #require(update.contents.sections.first)
        let favourites = try Favourites(URL(filePath: folder.file("favourites.json")))
        try await favourites.add(picture.id)
        let favourite = try #require(try await favourites.all.first)
        let values: [(value: Any, shown: String)] = [
            (picture, "https://example.com/a?token=…&page=7"), (update.contents, "pictures: 1"), (section, "pictures: 1"),
            (update, "isSettled: true"), (update, "cells: 1"), (update[picture.id], "picture"), (list, "PictureList"),
            (list.updates, "PictureListUpdates"), (list.updates.makeAsyncIterator(), "AsyncIterator"),
            (PictureListOptions(), "ahead"), (PictureArrangement(), "order"),
            (CellState<Data>.failed(FetchError(.status(404), url: url)), "https://example.com/a?token=…&page=7"),
            (favourite, "https://example.com/a?token=…&page=7"), (favourites, "Favourites"),
        ]
        for (value, shown) in values {
            let printing = Printing(of: value)
            #expect(printing.text(showing: Self.secret) == nil, "\(type(of: value))")
            // A dump writes the name of a field and its value as others do, but for quotes.
            #expect(printing.shows(shown), "\(type(of: value)) shows no \(shown): \(printing.texts)")
        }
        await fetcher.close()
    }
}
