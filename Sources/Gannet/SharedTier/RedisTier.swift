internal import ClusterState
internal import FetchCache
internal import HTTPEngine
internal import RedisClient
internal import Threads

/// The shared tier in Redis: pages and locks beside the queues' own, bodies in a blob store.
///
/// A caller that finds somebody else at work waits for the word that the URL is free, or for the end of that other's lock.
struct RedisTier: SharedTier {
    let cluster: ClusterState
    let bodies: SharedBodies
    let renewals: Renewals
    let freed: FreedURLs
    let lease: Duration
    /// The channel on which this process is told of freed URLs.
    let inbox: String
    let breaker = OutageBreaker()

    func acquire(_ ask: SharedAsk) async -> SharedAnswer {
        guard let id = URLID(ask.key.id) else { return .unavailable("The key has another length than this tier knows.") }
        var request = AcquireRequest(id: id, nonce: Nonce(UInt64.random(in: .min ... .max)), lease: lease)
        request.inbox = inbox
        request.refresh = ask.refresh
        request.maximumAge = ask.maximumAge
        while !Task.isCancelled {
            guard breaker.mayTry() else { return .unavailable("Redis was away a moment ago.") }
            let number = freed.expect(id)
            let asked = ContinuousClock.now
            let answer: AcquireAnswer
            do throws(StateError) {
                answer = try await acquire(request)
                breaker.succeeded()
            } catch {
                if error.isTransient { breaker.failed() }
                freed.forget(number, id)
                // The lock may have been taken all the same; it ends with its lease.
                return .unavailable(error.description)
            }
            request.since = request.since ?? answer.now
            if case .busy(let atMost) = answer.fate {
                await freed.wait(number, id, atMost: atMost + Self.grace)
                continue
            }
            freed.forget(number, id)
            switch await outcome(of: answer, ask, id, asked) {
            case .some(let outcome): return outcome
            case .none(let missing): request.missingBody = missing
            }
        }
        return .cancelled
    }

    func remove(_ key: CacheKey) async {
        guard let id = URLID(key.id) else { return }
        try? await cluster.removePage(id)
    }

    /// Not cut short by the end of the caller's task: a lock that nobody knows he has would keep others out for a whole lease.
    private func acquire(_ request: AcquireRequest) async throws(StateError) -> AcquireAnswer {
        let cluster = cluster
        return try await Task { () async -> Result<AcquireAnswer, StateError> in
            do throws(StateError) {
                return .success(try await cluster.acquire(request))
            } catch {
                return .failure(error)
            }
        }.value.get()
    }

    /// Whoever comes too early finds it as it was.
    private static let grace = Duration.milliseconds(20)

    private enum Found {
        case some(SharedAnswer)
        /// A body that should be there, and is not.
        case none(missing: [UInt8])
    }

    private func outcome(of answer: AcquireAnswer, _ ask: SharedAsk, _ id: URLID, _ asked: ContinuousClock.Instant) async -> Found {
        switch answer.fate {
        case .busy: preconditionFailure("Whoever is told to wait has not been answered.")
        case .negative(let page): return .some(.failed(FetchError(page.content, url: ask.url)))
        case .fresh(let page) where !page.isStored: return .some(.notShared)
        case .fresh(let page):
            guard let answer = await cached(page, at: answer.now) else { return .none(missing: page.content.digest ?? []) }
            return .some(.found(answer))
        case .leased(let token, let stale):
            // Until it is given up it has to be kept alive, whatever becomes of the caller.
            renewals.add(token, asked: asked)
            var old: CachedAnswer?
            if let stale { old = await cached(stale, at: answer.now) }
            let lease = RedisLease(tier: self, token: token, id: id, url: ask.url, stale: old)
            if Task.isCancelled {
                await lease.release()
                return .some(.cancelled)
            }
            return .some(.leased(lease))
        }
    }

    /// The answer that a page tells of, with the times of this process' clock; `nil` when its body is gone.
    private func cached(_ page: Page, at queueNow: Int) async -> CachedAnswer? {
        guard let facts = page.content.facts.flatMap({ StoredAnswer(decoding: $0) }), let digest = page.content.digest,
            let body = await bodies.get(digest, count: page.content.size)
        else { return nil }
        // By this machine's clock it came as long ago as by Redis'.
        let ago = Duration.milliseconds(max(0, queueNow - page.ended))
        return CachedAnswer(facts: facts.received(at: .now - ago), body: body)
    }
}
