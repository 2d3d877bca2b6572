internal import ClusterState
internal import FetchCache
internal import GannetBasics
internal import HTTPCaching
internal import HTTPEngine
internal import RedisClient

/// The shared tier in Redis: pages and locks beside the queues' own, bodies in a blob store.
///
/// A caller that finds somebody else at work waits for the word that the URL is free, or for the end of that other's lock.
struct RedisTier: SharedTier {
    let link: RedisLink
    let cluster: ClusterState
    let bodies: SharedBodies
    let renewals: Renewals
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
        var useless = 0
        while !Task.isCancelled {
            guard breaker.mayTry() else { return .unavailable("Redis was away a moment ago.") }
            let number = link.freed.expect(id)
            let asked = ContinuousClock.now
            let answer: AcquireAnswer
            do throws(StateError) {
                answer = try await acquire(request)
                breaker.succeeded()
            } catch {
                if error.isTransient { breaker.failed() }
                link.freed.forget(number, id)
                if error.mayHaveExecuted { giveBack(request) }
                return .unavailable(error.description)
            }
            let since = request.since
            request.since = since ?? answer.now
            if case .busy(let atMost) = answer.fate {
                // Lease time goes on only while somebody calls: a dead holder's lock would outlive its time if nobody asked.
                await link.freed.wait(number, id, atMost: min(atMost, lease / 3) + Self.grace)
                continue
            }
            link.freed.forget(number, id)
            let found: Found
            do throws(StateError) {
                found = try await outcome(of: answer, ask, id, asked, since: since)
            } catch {
                if error.isTransient { breaker.failed() }
                return .unavailable(error.description)
            }
            switch found {
            case .some(let outcome): return outcome
            case .none(let missing):
                // What cannot be used a second time cannot be had this way; only a new one will do.
                request.refresh = request.refresh || missing.isEmpty || request.missingBody != nil
                request.missingBody = missing.isEmpty ? request.missingBody : missing
                useless += 1
                if useless > Self.mostUseless { return .notShared }
            }
        }
        return .cancelled
    }

    func remove(_ key: CacheKey) async {
        guard let id = URLID(key.id) else { return }
        // A connection that was lost is made again within the call's time; a Redis that is away longer keeps what it has, as is documented.
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

    /// Takes the lock that a call without an answer may have taken, once Redis replies again, and lets it go.
    private func giveBack(_ request: AcquireRequest) {
        var request = request
        request.inbox = nil
        let cluster = cluster
        Task { [request, lease] in
            let end = ContinuousClock.now + lease
            while ContinuousClock.now < end {
                try? await Task.sleep(for: OutageBreaker.shortestPause)
                do throws(StateError) {
                    let answer = try await cluster.acquire(request)
                    guard case .leased(let token, _) = answer.fate else { return }
                    _ = try await cluster.settle([Settlement(token, request.id, .handedBack)], random: .random(in: 0...1))
                    return
                } catch {
                    guard error.isTransient else { return }
                }
            }
        }
    }

    /// So many pages that make no sense, or whose body is gone, are looked at before the caller helps himself.
    private static let mostUseless = 3

    /// Whoever comes too early finds it as it was.
    private static let grace = Duration.milliseconds(20)

    private enum Found {
        case some(SharedAnswer)
        /// A body that should be there, and is not.
        case none(missing: [UInt8])
    }

    private func outcome(
        of answer: AcquireAnswer, _ ask: SharedAsk, _ id: URLID, _ asked: ContinuousClock.Instant, since: Int?
    ) async throws(StateError) -> Found {
        switch answer.fate {
        case .busy: preconditionFailure("Whoever is told to wait has not been answered.")
        case .negative(let page): return .some(.failed(FetchError(page.content, url: ask.url)))
        case .fresh(let page) where !page.isStored: return .some(.notShared)
        case .fresh(let page):
            guard let answer = try await cached(page, at: answer.now) else { return .none(missing: page.content.digest ?? []) }
            // In Redis' time, in which both are told: by this machine's it would be a matter of milliseconds on the way.
            return .some(.found(answer, hasComeSince: since.map { page.ended >= $0 } ?? false))
        case .leased(let token, let stale):
            // Until it is given up it has to be kept alive, whatever becomes of the caller.
            renewals.add(token, asked: asked)
            var old: CachedAnswer?
            if let stale { old = (try? await cached(stale, at: answer.now)) ?? nil }
            let lease = RedisLease(tier: self, token: token, id: id, url: ask.url, stale: old)
            if Task.isCancelled {
                await lease.release()
                return .some(.cancelled)
            }
            return .some(.leased(lease))
        }
    }

    /// The answer that a page tells of, with the times of this process' clock; `nil` when its body is gone.
    private func cached(_ page: Page, at queueNow: Int) async throws(StateError) -> CachedAnswer? {
        guard let facts = page.content.facts.flatMap({ StoredAnswer(decoding: $0) }), let digest = page.content.digest,
            let body = try await bodies.get(digest, count: page.content.size)
        else { return nil }
        // By this machine's clock it came as long ago as by Redis'.
        let ago = Duration.milliseconds(max(0, queueNow - page.ended))
        return CachedAnswer(facts: facts.received(at: .now - ago), body: body)
    }
}
