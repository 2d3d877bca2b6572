internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
package import GannetQueue

/// How callers without a job treat hosts.
package struct HostPoliteness: Sendable {
    /// For hosts for which an operator has set no rule.
    package var usual: HostRule
    /// A host that does not answer is given up after this.
    package var patience: HostPatience
    /// The longest time for which a request waits for a place.
    package var longestWait: Duration

    package init(_ usual: HostRule, patience: HostPatience, longestWait: Duration) {
        self.usual = usual
        self.patience = patience
        self.longestWait = longestWait
    }
}

/// The places at hosts in Redis. Jobs of workers take theirs from the same ones.
struct RedisHosts: SharedHosts {
    let cluster: ClusterState
    /// One for each partition.
    let lanes: [TierLane]
    let politeness: HostPoliteness
    let breaker: OutageBreaker

    func enter(_ host: String, since: ContinuousClock.Instant, _ wait: HostWait) async -> SharedHostAnswer {
        let lane = lanes[cluster.partition(of: host).index]
        let id = URLID.random()
        var patience = PlacePatience(politeness.longestWait - (.now - since))
        while !Task.isCancelled {
            guard breaker.mayTry() else { return .unavailable }
            let answer: (passage: Passage, incarnation: Incarnation)
            do {
                // Goes on when the task is cancelled: a place that nobody knows of would be taken from the host.
                answer = try await Task { [usual = politeness.usual] in try await lane.enter(host, id, usual: usual) }.value
                breaker.succeeded()
            } catch {
                breaker.note(error)
                return .unavailable
            }
            let opensIn: Duration?
            switch answer.passage {
            case .there:
                let token = LockToken.ofPlace(answer.incarnation)
                return .entered { error in await lane.leave(Self.settlement(token, id, after: error)) }
            case .lost: continue
            case .hopeless:
                return .refused(
                    FetchError(kind: .connect, url: "", detail: "\(host) is given up for now, because it does not answer"))
            case .full(let time): opensIn = time
            }
            switch patience.next(opensIn: opensIn, random: .random(in: 0...1)) {
            case .wait(let pause):
                wait.note(.now + (opensIn ?? pause))
                do { try await Task.sleep(for: pause) } catch { return .cancelled }
            case .giveUp(let pause):
                let detail = opensIn.map { "\(host) gets no request for another \($0)" } ?? "\(host) has no place free"
                return .refused(FetchError(kind: .throttled, url: "", detail: detail, retryAfter: pause))
            }
        }
        return .cancelled
    }

    /// - Parameter error: nil for a host that answered.
    private static func settlement(_ token: LockToken, _ id: URLID, after error: FetchError?) -> Settlement {
        var outcome = Settlement.Outcome.leftPlace
        if let error, error.retry.asksForRest, case .coolDown(let rest) = RetryPolicy().decide(error.retry, failures: 0, random: 0) {
            outcome = .leftPlaceToRest(rest)
        }
        return Settlement(token, id, outcome, host: error.map { .init($0.kind) } ?? .answered)
    }
}
