/// How long jobs wait for a host that does not answer.
package struct HostPatience: Sendable, Equatable {
    /// For a host that has answered in the last hour; zero for ever.
    package var time: Duration

    /// Any other host is given up after this many requests without an answer, if that is sooner; 0 for a host that is treated like one that
    /// has answered.
    package var probes: Int

    package init(_ time: Duration, probes: Int = 0) {
        self.time = time
        self.probes = probes
    }

    package static let usual = HostPatience(.seconds(15 * 60), probes: 3)
    package static let endless = HostPatience(.zero)
}

/// How long workers wait for hosts, at most.
package struct WaitPatience: Sendable, Equatable {
    /// For a host that does not answer; zero for ever.
    package var silence: Duration
    /// For a host that asks for rests; zero for ever.
    package var rests: Duration
    /// For how long the worker has run. A rest that began before that costs nothing of its patience. `nil` where it is not known.
    package var age: Duration?

    package init(silence: Duration, rests: Duration) {
        self.silence = silence
        self.rests = rests
    }

    /// The time that is left; `nil` for ever.
    func left(afterSilence time: Duration) -> Duration? { silence == .zero ? nil : max(.zero, silence - time) }
    func left(afterRests time: Duration) -> Duration? { rests == .zero ? nil : max(.zero, rests - min(time, age ?? time)) }

    /// The time within which a host answers or is given up, if it is not given up already; `nil` where that is not known.
    func left(of host: WaitingHost) -> Duration? {
        guard !host.isGivenUp, let since = host.since else { return nil }
        return host.failures > 0 ? left(afterSilence: since) : left(afterRests: since)
    }

    /// The longest of the living workers; `nil` without workers, or where one says nothing: it may wait for ever.
    static func longest(of workers: [WorkerStatus]) -> WaitPatience? {
        let patiences = workers.filter { $0.state != .silent }.map { worker in
            var patience = worker.record?.patience
            patience?.age = worker.age
            return patience
        }
        return patiences.contains(nil) ? nil : patiences.compactMap(\.self).reduce(nil) { $0?.longer($1) ?? $1 }
    }

    /// The longer of both, for each kind of host. It ends as if the younger of both workers had it.
    func longer(_ other: WaitPatience) -> WaitPatience {
        func longer(_ one: Duration, _ other: Duration) -> Duration { one == .zero || other == .zero ? .zero : max(one, other) }
        var both = WaitPatience(silence: longer(silence, other.silence), rests: longer(rests, other.rests))
        if let age, let other = other.age { both.age = min(age, other) }
        return both
    }
}
