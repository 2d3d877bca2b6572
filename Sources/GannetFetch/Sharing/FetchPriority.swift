internal import GannetBase

/// How urgent a fetch is among the fetches that wait for a place.
public enum FetchPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Fetched only when no other fetch waits, such as a prefetch.
    case background
    case low, normal, high

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    var taskPriority: TaskPriority {
        switch self {
        case .background: .background
        case .low: .low
        case .normal: .medium
        case .high: .high
        }
    }
}
