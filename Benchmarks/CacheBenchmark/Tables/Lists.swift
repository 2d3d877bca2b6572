import BenchmarkKit
import Foundation
import GannetFetch
import GannetTestKit

/// Lists of 100,000 pictures: the time to arrange them, and the requests and memory of a scroll through all of them.
enum Lists {
    private static let count = 100_000

    static func measure() async throws {
        let pictures = makePictures()
        table("Arranging \(grouped(count)) pictures of 30 years", "arrangement", "sections", "time")
        for order in PictureArrangement.Order.allCases { report("\(order)", pictures, PictureArrangement(order)) }
        for grouping in PictureArrangement.Grouping.allCases {
            report("newest first, by \(grouping)", pictures, PictureArrangement(.newestFirst, by: grouping))
        }
        table("A list of \(grouped(count)) cells, thirty on the screen, by one cell at a time", "scroll", "time", "requests", "MiB more")
        for pause in [nil, 1000, 100] { try await scroll(pictures, pausingAfter: pause) }
    }

    private static func makePictures() -> [Picture] {
        var random = SeededBytes(seed: 1)
        return (0..<count).compactMap { number in
            URL(string: "https://images\(random.next() % 100).example.com/pictures/large/\(number).jpg").map { url in
                Picture(
                    url, date: Date(timeIntervalSince1970: Double(random.next() % 946_080_000)), byteCount: Int64(random.next() % 1_000_000)
                )
            }
        }
    }

    private static func report(_ name: String, _ pictures: [Picture], _ arrangement: PictureArrangement) {
        var sections = 0
        let times = (0..<5).map { _ -> Double in
            let start = ContinuousClock.now
            sections = PictureContents(pictures, arrangement).sections.count
            return (ContinuousClock.now - start) / .microseconds(1)
        }
        row(name, grouped(sections), time(times.median))
    }

    /// - Parameter pause: After so many cells the list rests until all that is near the screen is there.
    private static func scroll(_ pictures: [Picture], pausingAfter pause: Int?) async throws {
        // Bodies of 10 KB, of which the fetcher keeps some hundred.
        let body = Data(repeating: 1, count: 10_000)
        let fetcher = try Fetcher(
            FetcherOptions {
                $0.memoryLimit = 2_000_000
                $0.valueLimit = 2_000_000
            }
        ) { request in
            FetchResponse(body, from: request.url, headers: ["Cache-Control": "max-age=600"])
        }
        let list = PictureList(pictures, fetcher: fetcher) { $0 }
        let ids = pictures.map(\.id)
        _ = await list.current
        let memory = residentMemory()
        let start = ContinuousClock.now
        for first in 0...ids.count - 30 {
            list.show(ids[first..<first + 30])
            if let pause, first % pause == 0 { for await update in list.updates where update.isSettled { break } }
        }
        for await update in list.updates where update.isSettled { break }
        row(
            pause.map { "resting after \(grouped($0)) cells" } ?? "at full speed", seconds(ContinuousClock.now - start),
            grouped(fetcher.statistics.downloads), tenths(Double(residentMemory() - memory) / 1_048_576))
        await fetcher.close()
    }
}
