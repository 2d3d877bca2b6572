internal import FoundationEssentials
internal import GannetFetch

/// How a client wants the pictures of a batch.
struct PictureOrder: Sendable, Hashable {
    enum Name: String, CaseIterable, Sendable {
        case newest, oldest, host, largest, smallest

        fileprivate var order: PictureArrangement.Order {
            switch self {
            case .newest: .newestFirst
            case .oldest: .oldestFirst
            case .host: .host
            case .largest: .largestFirst
            case .smallest: .smallestFirst
            }
        }
    }

    enum Part: String, CaseIterable, Sendable {
        case day, week, month

        fileprivate var grouping: PictureArrangement.Grouping {
            switch self {
            case .day: .day
            case .week: .week
            case .month: .month
            }
        }
    }

    var name = Name.newest
    /// The sections; without them all pictures are one.
    var part: Part?
    /// Where days begin: minutes east of Greenwich.
    var offset = 0

    var arrangement: PictureArrangement {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: offset * 60) ?? .gmt
        // Weeks begin as ISO 8601 has it, on Mondays.
        calendar.firstWeekday = 2
        calendar.minimumDaysInFirstWeek = 4
        return PictureArrangement(name.order, by: part?.grouping, calendar: calendar)
    }
}
