/// A host for which jobs wait, because it does not answer or has asked for a rest.
package struct WaitingHost: Sendable, Equatable {
    package let name: String
    /// The class of its last failure; nil for a host that asked for a rest.
    package let errorClass: String?
    /// Requests without an answer, in a row.
    package let failures: Int
    /// Until its next request; zero where that may begin now, or is under way.
    package let rest: Duration
    package let isGivenUp: Bool

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
        name: String, errorClass: String? = nil, failures: Int = 0, rest: Duration = .zero, isGivenUp: Bool = false
    ) {
        self.name = name
        self.errorClass = errorClass
        self.failures = failures
        self.rest = rest
        self.isGivenUp = isGivenUp
    }

    /// Nil for a host that only has no free place.
    init?(_ name: String, _ standing: HostStanding, at now: Int) {
        guard standing.failures > 0 || standing.restsUntil > now else { return nil }
        let failure = standing.failures > 0 ? standing.lastFailure : nil
        self.init(
            name: name, errorClass: failure?.fields[.errorClass], failures: standing.failures, rest: standing.rest(at: now) ?? .zero,
            isGivenUp: standing.isGivenUp)
    }
}
