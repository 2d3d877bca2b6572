/// Where an answer came from.
public enum AnswerSource: String, Sendable, Hashable, CaseIterable {
    case memory, disk
    /// Another process had fetched it.
    case shared
    case network
    /// It was kept, and the origin has said that it is still the same.
    case revalidated
    /// It was kept and is out of date; the origin could not be asked, or is being asked meanwhile.
    case stale
}
