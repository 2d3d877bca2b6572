internal import GannetFetch
internal import GannetHTTP
internal import GannetQueue
internal import GannetRedisClient

/// The right to fetch one URL, which no other process has at the same time.
struct RedisLease: SharedLease {
    let tier: RedisTier
    let lane: TierLane
    let lock: HeldLock
    let token: LockToken
    let id: URLID
    let url: String
    let stale: CachedAnswer?

    func whenLost(_ action: @escaping @Sendable () -> Void) { lock.whenLost(action) }

    func isWantedElsewhere() async -> Bool {
        // Without an answer of Redis nobody could get the body from here.
        guard let waiting = try? await tier.cluster.waiting(for: id, token, in: lane.partition) else { return false }
        if waiting.hasJobs { return true }
        return await tier.link.inbox.isWaitedFor(id, at: waiting.channels, in: lane.partition)
    }

    func commit(_ answer: CachedAnswer, kept: SharedRetention, revalidated: Bool) async -> SharedCommit {
        var content = OutcomeContent(url: url)
        content.status = answer.facts.status
        content.digest = answer.facts.digest.bytes
        content.size = answer.body.count
        content.facts = answer.facts.encoded
        // The body is stored before its outcome, so that a caller who finds the outcome finds the body.
        if let problem = await store(answer) {
            // Each waiting caller would otherwise meet the same problem, one after the other.
            await shareNothing(status: answer.facts.status)
            return problem
        }
        let retention = Retention(fresh: kept.fresh, keep: kept.keep)
        return await settle(revalidated ? .revalidated(content, retention) : .fetched(content, retention), bytes: answer.body.count)
    }

    /// Stores a body; returns why that failed, or `nil`.
    private func store(_ answer: CachedAnswer) async -> SharedCommit? {
        do {
            switch try await tier.bodies.put(digest: answer.facts.digest.bytes, bytes: answer.body, limit: tier.bodyLimit) {
            case .stored, .present: return nil
            case .tooLarge, .full, .held: return .refused
            }
        } catch  where error.redis?.kind == .outOfMemory {
            tier.full()
            return .refused
        } catch {
            return .unavailable
        }
    }

    func shareNothing(status: Int) async {
        var content = OutcomeContent(url: url)
        content.status = status
        _ = await settle(.fetched(content, Retention(fresh: .zero, keep: Self.forWaitingCallers, isStored: false)))
    }

    func fail(_ error: FetchError, for time: Duration) async {
        // A URL has one outcome. The failure would replace the stale answer, which may still serve and be revalidated.
        if stale != nil { return await release() }
        let content = OutcomeContent(error, url: url)
        let isStored = !error.kind.restsOnSettings
        _ = await settle(
            .failed(content, Retention(fresh: isStored ? time : .zero, keep: max(time, Self.forWaitingCallers), isStored: isStored)))
    }

    /// Waiting callers are woken at once and ask within milliseconds.
    private static let forWaitingCallers = Duration.seconds(10)

    func release() async { _ = await settle(.handedBack) }

    /// Goes on when the caller's task is cancelled, because others wait for the outcome.
    private func settle(_ outcome: Settlement.Outcome, bytes: Int = 0) async -> SharedCommit {
        switch await lane.settle(Settlement(token, id, outcome, bytesFetched: bytes)) {
        case .success(.settled): return .stored
        case .success(.fenced): return .fenced
        case .success(.lost), .success(.malformed): return .lost
        case .failure: return .unavailable
        }
    }
}
