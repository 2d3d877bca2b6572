import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

struct ChangingListTests {
    private static func names(_ list: PictureList<FetchedImage>) async -> [String] { await list.current.contents.pictures.map(\.id) }

    @Test func `added pictures come last, and a picture whose name is known takes its place`() async throws {
        let answers = ScriptedAnswers()
        let list = PictureList(Samples.pictures(3), fetcher: try answers.fetcher())
        list.show(Samples.ids(0..<3))
        _ = try await list.settled()
        var updates = list.updates.makeAsyncIterator()
        _ = await updates.next()
        // The second has another URL, the third another title.
        await list.add([
            Picture(Samples.url(77), id: "1"), Picture(Samples.url(2), id: "2", title: "new"), Picture(Samples.url(9), id: "9"),
        ])
        let update = try #require(await updates.next())
        #expect(update.isRearranged && update.contents.pictures.map(\.id) == ["0", "1", "2", "9"])
        _ = try await list.settled()
        #expect(Set(answers.asked) == ["/0", "/1", "/2", "/77", "/9"], "the third is shown as it was, the new one is ahead of the screen")
        #expect(answers.asked.count == 5)
    }

    @Test func `removed pictures are cancelled, and are in no state any more`() async throws {
        let answers = ScriptedAnswers { _, _ in .held }
        let list = PictureList(Samples.pictures(5), fetcher: try answers.fetcher(), PictureListOptions { $0.ahead = 0 })
        list.show(Samples.ids(0..<3))
        try await answers.waitForRequests(3)
        await list.remove(["1", "nobody"])
        try await answers.waitForCancellations(1)
        #expect(answers.cancelled == ["/1"])
        let current = await list.current
        #expect(current.contents.pictures.map(\.id) == ["0", "2", "3", "4"] && current.cells.keys.sorted() == ["0", "2"])
        await list.replace(with: Samples.pictures(1))
        try await answers.waitForCancellations(2)
        #expect(await Self.names(list) == ["0"])
        answers.open()
        let update = try await list.settled()
        #expect(update["0"].name == "picture")
    }

    @Test func `another order moves no picture off the screen`() async throws {
        let pictures = (0..<100).map { Picture(Samples.url($0), id: "\($0)", date: Date(timeIntervalSince1970: Double($0) * 1000)) }
        let answers = ScriptedAnswers()
        let options = PictureListOptions { $0.ahead = 2 }
        let list = PictureList(pictures, fetcher: try answers.fetcher(), options)
        list.show(Samples.ids(10..<12))
        _ = try await list.settled()
        await list.arrange(PictureArrangement(.newestFirst, by: .month, calendar: Calendar(identifier: .gregorian)))
        let update = try await list.settled()
        #expect(update.contents.pictures.first?.id == "99" && update.contents.sections.count == 1)
        #expect(update["10"].name == "picture" && update["11"].name == "picture")
        #expect(answers.asked.sorted() == ["/10", "/11", "/12", "/13", "/8", "/9"].sorted(), "only those that are ahead now are new")
    }

    @Test func `sizes that were learnt count when the list is arranged next`() async throws {
        let pictures = [Picture(Samples.url(0), id: "unknown"), Picture(Samples.url(1), id: "small", byteCount: 1)]
        let list = PictureList(
            pictures, fetcher: try ScriptedAnswers().fetcher(), PictureListOptions { $0.arrangement = PictureArrangement(.largestFirst) })
        #expect(await Self.names(list) == ["small", "unknown"])
        list.show(["unknown"])
        _ = try await list.settled()
        #expect(await Self.names(list) == ["small", "unknown"])
        await list.arrange(PictureArrangement(.largestFirst))
        #expect(await Self.names(list) == ["unknown", "small"])
        #expect(await list.current.contents.pictures.first?.byteCount == Int64(Samples.png.count))
    }

    @Test func `requests carry what the options say, and the list's priority`() async throws {
        let seen = Monitor<[FetchRequest]>([])
        let fetcher = try Fetcher { request in
            seen.update { $0.append(request) }
            return FetchResponse(Samples.png, from: request.url)
        }
        let options = PictureListOptions {
            $0.request = { picture in FetchRequest(picture.url) { $0.headers = ["Accept": "image/webp"] } }
        }
        let list = PictureList(Samples.pictures(1), fetcher: fetcher, options)
        list.show(["0"])
        _ = try await list.settled()
        let requests = seen.update { $0 }
        #expect(requests.map(\.headers) == [["Accept": "image/webp"]])
    }
}
