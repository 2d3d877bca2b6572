import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

struct ArrangementTests {
    private static let berlin = calendar("Europe/Berlin", firstWeekday: 2)

    private static func calendar(_ zone: String, firstWeekday: Int, _ identifier: Calendar.Identifier = .gregorian) -> Calendar {
        var calendar = Calendar(identifier: identifier)
        calendar.timeZone = TimeZone(identifier: zone)!
        calendar.firstWeekday = firstWeekday
        calendar.minimumDaysInFirstWeek = 4
        return calendar
    }

    private static func date(_ text: String) -> Date {
        do { return try Date(text, strategy: .iso8601) } catch { fatalError("\(text): \(error)") }
    }

    private static func picture(_ number: Int, _ date: String?, size: Int64? = nil, host: String = "a") -> Picture {
        Picture(Samples.url(number, host), id: "\(number)", date: date.map(Self.date), byteCount: size)
    }

    /// The names of the pictures of each section.
    private static func names(_ contents: PictureContents) -> [String] { contents.sections.map { $0.pictures.map(\.id).joined() } }

    /// A row: the zone, the first weekday, the grouping, times in UTC, and the sections that they make.
    @Test(
        arguments: [
            // Midnight of the zone counts, and not that of UTC.
            ("Europe/Berlin", 2, .day, ["2026-06-01T21:59:59Z", "2026-06-01T22:00:00Z"], ["0", "1"]),
            ("UTC", 2, .day, ["2026-06-01T21:59:59Z", "2026-06-01T22:00:00Z"], ["01"]),
            ("Asia/Kathmandu", 2, .day, ["2026-06-01T18:14:59Z", "2026-06-01T18:15:00Z"], ["0", "1"]),
            // A day of 23 hours, and one of 25.
            ("Europe/Berlin", 2, .day, ["2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"], ["01", "2"]),
            ("Europe/Berlin", 2, .day, ["2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z"], ["01", "2"]),
            // The day begins at one o'clock: there is no midnight.
            ("America/Havana", 1, .day, ["2026-03-08T04:59:59Z", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z"], ["0", "12"]),
            // An hour that the clock shows twice is one day.
            ("America/New_York", 1, .day, ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-02T04:59:59Z"], ["012"]),
            // The same Sunday ends a week, or begins one.
            ("UTC", 2, .week, ["2026-06-06T12:00:00Z", "2026-06-07T12:00:00Z", "2026-06-08T12:00:00Z"], ["01", "2"]),
            ("UTC", 1, .week, ["2026-06-06T12:00:00Z", "2026-06-07T12:00:00Z", "2026-06-08T12:00:00Z"], ["0", "12"]),
            ("UTC", 7, .week, ["2026-06-05T12:00:00Z", "2026-06-06T12:00:00Z", "2026-06-08T12:00:00Z"], ["0", "12"]),
            // A week across New Year, and one across the change of the clocks.
            ("Europe/Berlin", 2, .week, ["2026-12-28T00:00:00Z", "2027-01-03T22:59:59Z", "2027-01-03T23:00:00Z"], ["01", "2"]),
            ("Europe/Berlin", 2, .week, ["2026-03-22T23:00:00Z", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"], ["01", "2"]),
            ("Europe/Berlin", 2, .month, ["2026-02-28T22:59:59Z", "2026-02-28T23:00:00Z", "2026-03-31T21:59:59Z"], ["0", "12"]),
            ("UTC", 2, .month, ["2026-02-01T00:00:00Z", "2027-02-01T00:00:00Z"], ["0", "1"]),
        ] as [(String, Int, PictureArrangement.Grouping, [String], [String])])
    func `sections begin where the calendar says`(
        zone: String, firstWeekday: Int, grouping: PictureArrangement.Grouping, dates: [String], sections: [String]
    ) {
        let pictures = dates.indices.map { Self.picture($0, dates[$0]) }
        let calendar = Self.calendar(zone, firstWeekday: firstWeekday)
        let contents = PictureContents(pictures, PictureArrangement(.oldestFirst, by: grouping, calendar: calendar))
        #expect(Self.names(contents) == sections)
        for section in contents.sections {
            let starts = Set(section.pictures.map { calendar.dateInterval(of: grouping.component, for: $0.date!)?.start })
            #expect(starts == [section.start])
        }
        // The other way round, both the sections and the pictures in them are reversed.
        let reversed = PictureContents(pictures, PictureArrangement(.newestFirst, by: grouping, calendar: calendar))
        #expect(Self.names(reversed) == sections.reversed().map { String($0.reversed()) })
    }

    @Test func `pictures without a usable date are the last section`() {
        var strange = Self.picture(2, nil)
        strange.date = Date(timeIntervalSinceReferenceDate: .nan)
        var far = Self.picture(3, nil)
        far.date = .distantFuture + 1e15
        let pictures = [Self.picture(0, nil), Self.picture(1, "2026-06-01T12:00:00Z"), strange, far]
        for order in PictureArrangement.Order.allCases {
            for grouping in PictureArrangement.Grouping.allCases {
                let contents = PictureContents(pictures, PictureArrangement(order, by: grouping, calendar: Self.berlin))
                #expect(Self.names(contents) == ["1", "023"] && contents.sections.last?.start == nil)
            }
        }
    }

    @Test(
        arguments: [
            (.given, "012345"), (.newestFirst, "210435"), (.oldestFirst, "041235"), (.host, "135024"), (.largestFirst, "503124"),
            (.smallestFirst, "103524"),
        ] as [(PictureArrangement.Order, String)])
    func `pictures come in the order, and equals as they were given`(order: PictureArrangement.Order, names: String) {
        let pictures = [
            Self.picture(0, "2026-01-01T00:00:00Z", size: 5, host: "b.example"),
            Self.picture(1, "2026-01-02T00:00:00Z", size: 0, host: "A.example"),
            Self.picture(2, "2026-01-03T00:00:00Z", size: nil, host: "b.example"), Self.picture(3, nil, size: 5, host: "a.example"),
            Self.picture(4, "2026-01-01T00:00:00Z", size: nil, host: "c.example"), Self.picture(5, nil, size: 70, host: "a.example"),
        ]
        let contents = PictureContents(pictures, PictureArrangement(order))
        let sections = Self.names(contents)
        #expect(sections == [names])
        #expect(contents.pictures.indices.allSatisfy { contents.position(of: contents.pictures[$0].id) == $0 })
        #expect(contents.origins.map { pictures[$0] } == contents.pictures)
    }

    @Test func `sections of pictures in another order begin with the newest`() {
        let pictures = [
            Self.picture(0, "2026-01-01T12:00:00Z", size: 1), Self.picture(1, "2026-01-02T12:00:00Z", size: 2),
            Self.picture(2, "2026-01-01T13:00:00Z", size: 3), Self.picture(3, "2026-01-02T13:00:00Z", size: 1),
        ]
        let contents = PictureContents(pictures, PictureArrangement(.largestFirst, by: .day, calendar: Self.berlin))
        #expect(Self.names(contents) == ["13", "20"])
        #expect(contents.sections.map(\.pictures.indices) == [0..<2, 2..<4])
    }

    @Test func `of pictures with one name the first stays, and no pictures make no section`() {
        var twin = Self.picture(0, "2026-01-01T12:00:00Z")
        twin.title = "twin"
        let contents = PictureContents(
            [Self.picture(0, "2026-02-01T12:00:00Z"), twin], PictureArrangement(by: .month, calendar: Self.berlin))
        #expect(contents.pictures.map(\.title) == [""] && contents.sections.count == 1)
        #expect(PictureContents([], PictureArrangement(by: .day)).sections.isEmpty)
        #expect(PictureContents([]).sections.isEmpty)
    }

    @Test func `a hundred thousand pictures are all in one section each`() {
        var generator = SeededBytes(seed: 7)
        let pictures = (0..<100_000).map { number in
            Picture(Samples.url(number), date: Date(timeIntervalSince1970: Double(generator.next() % 1_000_000_000)))
        }
        let begin = ContinuousClock.now
        let contents = PictureContents(pictures, PictureArrangement(.newestFirst, by: .day, calendar: Self.berlin))
        print("100,000 pictures in \(contents.sections.count) days: \(ContinuousClock.now - begin)")
        #expect(contents.pictures.count == 100_000 && Set(contents.pictures) == Set(pictures))
        let starts = contents.sections.compactMap(\.start)
        #expect(starts.count == contents.sections.count && starts == Set(starts).sorted(by: >))
        let isInside = contents.sections.allSatisfy { section in
            section.start.map { start in section.pictures.allSatisfy { Self.berlin.isDate($0.date!, inSameDayAs: start) } } ?? false
        }
        #expect(isInside)
    }

    @Test func `a picture prints without its password`() {
        let picture = Picture(URL(string: "http://user:secret@a/")!)
        #expect(!"\(picture)".contains("secret") && !"\([picture])".contains("secret"))
        var dumped = ""
        dump(picture, to: &dumped)
        #expect(!dumped.contains("secret"))
    }
}
