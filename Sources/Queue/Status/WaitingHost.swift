/// A host for which jobs wait, because it does not answer, has asked for a rest, or wants time between two requests.
package struct WaitingHost: Sendable, Equatable {
    package let name: String
    /// The class of its last failure, or of the answer that asked for a rest; nil where that is not known.
    package internal(set) var errorClass: String?
    /// Requests without an answer, in a row.
    package internal(set) var failures = 0
    /// Until its next request; zero where that may begin now, or is under way.
    package internal(set) var rest = Duration.zero
    package internal(set) var isGivenUp = false
    /// For how long it has not answered, or has asked for rests; `nil` where that is not known.
    package internal(set) var since: Duration?
    /// The time between two requests, where nothing else keeps its jobs waiting.
    package internal(set) var pace: Duration?
    /// Jobs that workers met and put aside; `nil` where they were not looked at. Of a long list only the beginning is.
    package internal(set) var jobs: Int?

    /// Why its last request failed, in a sentence; `nil` where nobody asked for that.
    package internal(set) var reason: String?
    /// The time within which it answers or is given up, if it is not given up already; `nil` where that is not known.
    package var givenUpWithin: Duration?

    package enum State: String, Sendable, CaseIterable {
        /// It does not answer. One request at a time asks whether it does.
        case probed
        /// Its jobs fail.
        case givenUp = "given-up"
        /// It answers, and asked for a rest.
        case rests
        /// It gets a request only now and then: by its `Crawl-delay`, or by its slow answers where a worker goes by these.
        case paced
    }

    package var state: State { isGivenUp ? .givenUp : failures > 0 ? .probed : pace != nil ? .paced : .rests }

    /// How long its jobs take at least, by the pace.
    package var time: Duration { (pace ?? .zero) * (jobs ?? 0) }

    /// Nobody waits long for a host with a shorter pace.
    private static let leastPace = Duration.seconds(1)
}

extension WaitingHost {
    /// Nil for a host that only has no free place.
    init?(_ name: String, _ standing: HostStanding, at now: Int, jobs: Int? = nil) {
        guard standing.failures == 0, standing.restsUntil <= now else {
            self.init(
                name: name, errorClass: standing.lastFailure?.fields[.errorClass], failures: standing.failures,
                rest: standing.rest(at: now) ?? .zero, isGivenUp: standing.isGivenUp,
                since: standing.downSince > 0 ? .milliseconds(max(0, now - standing.downSince)) : nil, jobs: jobs)
            return
        }
        // An operator's rule outranks the pace.
        guard standing.pace.interval >= Self.leastPace, standing.rule?.interval == nil else { return nil }
        let next = Duration.milliseconds(max(0, standing.nextStart - now))
        self.init(
            name: name, rest: max(next, standing.rule?.pause ?? .zero), pace: standing.pace.interval, jobs: jobs)
    }
}
