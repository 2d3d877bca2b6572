import Foundation
import GannetFetch
import PictureTerminal
import Testing

struct LinesTests {
    private static let pixel = Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")!
    private static let text = """
        https://example.com/pixel.png 2026-06-01
        https://example.com/text.png 2026-06-02

        https://example.com/missing.png
        """

    /// A list that needs no network.
    private func list() throws -> PictureList<FetchedImage> {
        let fetcher = try Fetcher { request in
            switch request.url.lastPathComponent {
            case "pixel.png": return FetchResponse(Self.pixel, from: request.url)
            case "text.png": return FetchResponse(Data("no picture".utf8), from: request.url)
            default: throw FetchError(.status(404), url: request.url)
            }
        }
        return PictureList(
            pictures(Self.text), fetcher: fetcher, PictureListOptions { $0.arrangement = PictureArrangement(.newestFirst, by: .day) })
    }

    @Test func `each day has a heading, and each picture a line with its state and a star`() async throws {
        let list = try list()
        let waiting = lines(await list.current, favourites: [])
        #expect(waiting.count == 6 && waiting[1] == "  ·  https://example.com/text.png")

        list.show(pictures(Self.text).map(\.id))
        for await update in list.updates where update.isSettled {
            let drawn = lines(update, favourites: ["https://example.com/pixel.png"])
            #expect(drawn.count == 6)
            #expect(drawn[0].contains("2026") && drawn[2].contains("2026") && drawn[0] != drawn[2])
            #expect(drawn[1].hasPrefix("  ✗ ") && drawn[1].contains("text.png"))
            #expect(drawn[3] == "★ PNG 1 × 1  https://example.com/pixel.png")
            #expect(drawn[4] == "Without a date" && drawn[5].contains("404"))
            break
        }
    }
}
