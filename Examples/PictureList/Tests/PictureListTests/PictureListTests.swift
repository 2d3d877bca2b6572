import Foundation
import GannetFetch
import PictureList
import Testing

@MainActor struct PictureListTests {
    private static let pixel = Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")!
    private let good = URL(string: "https://example.com/pixel.png")!
    private let text = URL(string: "https://example.com/text.png")!
    private let missing = URL(string: "https://example.com/missing.png")!

    private func list() throws -> PictureList {
        let bodies = [good: Self.pixel, text: Data("no picture".utf8)]
        let fetcher = try Fetcher { request in
            guard let body = bodies[request.url] else { throw FetchError(.status(404), url: request.url) }
            return FetchResponse(body, from: request.url)
        }
        return PictureList([good, text, missing], fetcher: fetcher)
    }

    @Test func `a row has a placeholder, then its picture or why there is none`() async throws {
        let list = try list()
        for url in list.urls {
            list.appeared(url)
            guard case .placeholder = list.rows[url] else {
                Issue.record("no placeholder")
                return
            }
        }
        await list.settled()
        guard case .picture(let image) = list.rows[good] else {
            Issue.record("no picture")
            return
        }
        #expect(image.format == .png && image.size == ImageSize(width: 1, height: 1))
        guard case .failed(let notAPicture) = list.rows[text], case .failed(let notThere) = list.rows[missing] else {
            Issue.record("no failure")
            return
        }
        #expect(notAPicture.kind == .unexpectedContent)
        #expect(notThere.kind == .status(404))
    }

    @Test func `a row that has left the view is no failure, and is fetched when it comes back`() async throws {
        let list = try list()
        list.appeared(good)
        list.disappeared(good)
        await list.settled()
        list.appeared(good)
        await list.settled()
        guard case .picture = list.rows[good] else {
            Issue.record("no picture")
            return
        }
    }
}
