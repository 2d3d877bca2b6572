public import FoundationEssentials

/// The order of a list's pictures, and their sections.
public struct PictureArrangement: Sendable, Hashable {
    /// Pictures that the order cannot place, such as those without a date, come last. Equals stay in the order in which they were given.
    public enum Order: Sendable, Hashable, CaseIterable {
        case given
        case newestFirst, oldestFirst
        case host
        case largestFirst, smallestFirst
    }

    /// The part of a calendar that is one section.
    public enum Grouping: Sendable, Hashable, CaseIterable {
        case day, week, month
    }

    public var order: Order

    /// Without it, all pictures are one section.
    public var grouping: Grouping?

    /// Decides where days, weeks and months begin: by its time zone and its first day of the week.
    public var calendar: Calendar

    public init(_ order: Order = .given, by grouping: Grouping? = nil, calendar: Calendar = .current) {
        self.order = order
        self.grouping = grouping
        self.calendar = calendar
    }
}

extension PictureArrangement.Grouping {
    var component: Calendar.Component {
        switch self {
        case .day: .day
        case .week: .weekOfYear
        case .month: .month
        }
    }
}
