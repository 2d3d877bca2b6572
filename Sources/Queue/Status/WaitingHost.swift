/// A host for which jobs wait, because it does not answer or has asked for a rest.
package struct WaitingHost: Sendable, Equatable {
    package let name: String
    /// The class of its last failure, or of the answer that asked for a rest; nil where that is not known.
    package let errorClass: String?
    /// Requests without an answer, in a row.
    package let failures: Int
    /// Until its next request; zero where that may begin now, or is under way.
    package let rest: Duration
    package let isGivenUp: Bool
    /// For how long it has not answered, or has asked for rests; `nil` where that is not known.
    package let since: Duration?

    package enum State: String, Sendable, CaseIterable {
        /// It does not answer. One request at a time asks whether it does.
        case probed
        /// Its jobs fail.
        case givenUp = "given-up"
        /// It answers, and asked for a rest.
        case rests
    }

    package var state: State { isGivenUp ? .givenUp : failures > 0 ? .probed : .rests }

    package init(
        name: String, errorClass: String? = nil, failures: Int = 0, rest: Duration = .zero, isGivenUp: Bool = false, since: Duration? = nil
    ) {
        self.name = name
        self.errorClass = errorClass
        self.failures = failures
        self.rest = rest
        self.isGivenUp = isGivenUp
        self.since = since
    }

    /// Nil for a host that only has no free place.
    init?(_ name: String, _ standing: HostStanding, at now: Int) {
        guard standing.failures > 0 || standing.restsUntil > now else { return nil }
        self.init(
            name: name, errorClass: standing.lastFailure?.fields[.errorClass], failures: standing.failures,
            rest: standing.rest(at: now) ?? .zero,
            isGivenUp: standing.isGivenUp, since: standing.downSince > 0 ? .milliseconds(max(0, now - standing.downSince)) : nil)
    }
}
