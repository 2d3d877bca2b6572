internal import ClusterState
internal import FetchCache
internal import HTTPCaching
internal import HTTPEngine

/// One URL that this process may fetch and no other.
struct RedisLease: SharedLease {
    let tier: RedisTier
    let token: FlightToken
    let id: URLID
    let url: String
    let stale: CachedAnswer?

    func whenLost(_ action: @escaping @Sendable () -> Void) { tier.renewals.whenLost(token, action) }

    func commit(_ answer: CachedAnswer, kept: SharedRetention, revalidated: Bool) async -> SharedCommit {
        var content = PageContent(url: url)
        content.status = answer.facts.status
        content.digest = answer.facts.digest.bytes
        content.size = answer.body.count
        content.facts = answer.facts.encoded
        // The body first: who finds the page finds the body.
        if let problem = await tier.bodies.put(answer.facts.digest.bytes, answer.body) {
            // Those who wait would meet with the same, one after the other.
            await shareNothing(status: answer.facts.status)
            return problem
        }
        let retention = Retention(fresh: kept.fresh, keep: kept.keep)
        return await settle(revalidated ? .revalidated(content, retention) : .fetched(content, retention), bytes: answer.body.count)
    }

    func shareNothing(status: Int) async {
        var content = PageContent(url: url)
        content.status = status
        _ = await settle(.fetched(content, Retention(fresh: .zero, keep: Self.forThoseWhoWait, isStored: false)))
    }

    func fail(_ error: FetchError, for time: Duration) async {
        // There is one page to a URL: the failure would take the place of what may stand in for it, and of what the next may ask by.
        if stale != nil { return await release() }
        var content = PageContent(url: url)
        if case .status(let code) = error.kind { content.status = code }
        content.fields = [.errorClass: error.className, .errorMessage: error.detail]
        let isStored = !error.kind.restsOnSettings
        _ = await settle(
            .failed(content, Retention(fresh: isStored ? time : .zero, keep: max(time, Self.forThoseWhoWait), isStored: isStored)))
    }

    /// They are woken at once and come within milliseconds.
    private static let forThoseWhoWait = Duration.seconds(10)

    func release() async { _ = await settle(.handedBack) }

    private func settle(_ outcome: Settlement.Outcome, bytes: Int = 0) async -> SharedCommit {
        defer { tier.renewals.remove(token) }
        let settlement = Settlement(token, id, outcome, bytes: bytes)
        // Not to be cut short by the end of the caller's task: others wait for it.
        let cluster = tier.cluster
        let answer = await Task { () async -> Result<SettleAnswer, StateError> in
            do throws(StateError) {
                return .success(try await cluster.settle([settlement], random: .random(in: 0...1)).first ?? .lost)
            } catch {
                return .failure(error)
            }
        }.value
        switch answer {
        case .success(.settled): return .stored
        case .success(.fenced): return .fenced
        case .success(.lost): return .lost
        case .failure(let error): return .unavailable(error.description)
        }
    }
}
