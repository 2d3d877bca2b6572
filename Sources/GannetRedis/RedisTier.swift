internal import GannetFetch
internal import GannetHTTP
internal import GannetQueue
internal import GannetRedisClient

/// The shared tier in Redis: outcomes and locks together with those of the queues, and bodies in a blob store.
///
/// A caller that finds a URL locked waits for a message that it is free, or for the end of the lock.
struct RedisTier: SharedTier {
    let link: RedisLink
    let cluster: ClusterState
    let bodies: BlobStore
    /// In bytes of Redis' memory.
    let bodyLimit: Int
    /// One for each partition.
    let lanes: [TierLane]
    let lease: Duration
    /// How long a fetch may have the lock of its URL.
    let longestHold: Duration
    let breaker: OutageBreaker
    /// Called when Redis has no memory for a body.
    let full: @Sendable () -> Void

    func acquire(_ ask: SharedAsk) async -> SharedAnswer {
        guard let id = URLID(ask.key.id), let host = (try? CanonicalURL(ask.url))?.host else {
            return .unavailable
        }
        let lane = lanes[cluster.partition(of: host).index]
        var request = AcquireRequest(
            id: id, host: host, incarnation: Incarnation(0), nonce: UInt64.random(in: .min ... .max), lease: lease)
        request.longestHold = longestHold
        request.inbox = link.inbox.process
        request.refresh = ask.refresh
        request.maximumAge = ask.maximumAge
        var useless = 0
        link.inbox.join(id)
        defer { link.inbox.leave(id) }
        while !Task.isCancelled {
            guard breaker.mayTry() else { return .unavailable }
            let number = link.inbox.freed.expect(id)
            let asking = request
            let answer: AcquireAnswer
            let lock: HeldLock?
            do {
                // Goes on when the caller's task is cancelled: a lock whose holder does not know of it would block the URL for a whole lease.
                (answer, lock) = try await Task { try await lane.acquire(asking) }.value
                breaker.succeeded()
            } catch {
                link.inbox.freed.forget(number, id)
                breaker.note(error)
                return .unavailable
            }
            let since = request.since
            request.since = since ?? answer.now
            if case .busy(let atMost) = answer.fate {
                // Leases end only while somebody calls. So this caller must ask again in time, or a dead holder's lock would outlive its lease.
                await link.inbox.freed.wait(number, id, atMost: atMost)
                continue
            }
            link.inbox.freed.forget(number, id)
            if case .ended = answer.fate { continue }
            do {
                if let found = try await outcome(of: answer, ask, id, lane, lock, since: since) { return found }
            } catch {
                breaker.note(error)
                return .unavailable
            }
            var missing: [UInt8] = []
            if case .fresh(let outcome) = answer.fate { missing = outcome.content.digest ?? [] }
            // An answer that may be used only once cannot be had like this. Only a new one will do.
            request.refresh = request.refresh || missing.isEmpty || request.missingBody != nil
            request.missingBody = missing.isEmpty ? request.missingBody : missing
            useless += 1
            if useless > Self.mostUseless { return .notShared }
        }
        return .cancelled
    }

    func kept(_ ask: SharedAsk) async -> CachedAnswer? {
        guard breaker.mayTry(), let id = URLID(ask.key.id), let host = (try? CanonicalURL(ask.url))?.host else { return nil }
        do {
            let outcome = try await cluster.outcome(id, host: host)
            breaker.succeeded()
            guard let outcome, outcome.isStored, !outcome.isNegative else { return nil }
            return try await cached(outcome, at: try await cluster.now(in: cluster.partition(of: host)))
        } catch {
            breaker.note(error)
            return nil
        }
    }

    func remove(_ key: CacheKey, url: String) async throws {
        guard let id = URLID(key.id), let host = (try? CanonicalURL(url))?.host else { return }
        // A lost connection is restored within the call's time. A Redis that is away longer keeps the outcome, as documented.
        try await cluster.removeOutcome(id, host: host)
    }

    /// After this many outcomes that are malformed, or whose body is gone, the caller fetches the URL itself.
    private static let mostUseless = 3

    /// Nil for an outcome that does not count here, or whose body is gone.
    private func outcome(
        of answer: AcquireAnswer, _ ask: SharedAsk, _ id: URLID, _ lane: TierLane, _ lock: HeldLock?, since: Int?
    ) async throws -> SharedAnswer? {
        switch answer.fate {
        case .busy, .ended: preconditionFailure("A caller that has to ask again has no outcome.")
        case .waits(let failure): return .failed(FetchError(failure, url: ask.url), hasComeSince: true)
        // A batch obeys its sites, and a caller of the library does not.
        case .negative(let outcome) where outcome.content.fields[.errorClass] == FailureCounts.disallowed: return nil
        case .negative(let outcome):
            let hasComeSince = since.map { outcome.ended >= $0 } ?? false
            return .failed(FetchError(outcome.content, url: ask.url), hasComeSince: hasComeSince)
        case .fresh(let outcome) where !outcome.isStored: return .notShared
        case .fresh(let outcome):
            guard let answer = try await cached(outcome, at: answer.now) else { return nil }
            // Both times are Redis': this machine's clock would be off by the time on the network.
            return .found(answer, hasComeSince: since.map { outcome.ended >= $0 } ?? false)
        case .leased(let token, let stale):
            // The lease is extended until the lock is given up, also if the caller is cancelled.
            guard let lock else { preconditionFailure("A lock that was taken is held.") }
            var old: CachedAnswer?
            if let stale { old = (try? await cached(stale, at: answer.now)) ?? nil }
            let lease = RedisLease(tier: self, lane: lane, lock: lock, token: token, id: id, url: ask.url, stale: old)
            if Task.isCancelled {
                await lease.release()
                return .cancelled
            }
            return .leased(lease)
        }
    }

    /// The answer of an outcome, with times of this process' clock; `nil` if its body is gone.
    private func cached(_ outcome: URLOutcome, at queueNow: Int) async throws -> CachedAnswer? {
        guard let facts = outcome.content.facts.flatMap({ StoredAnswer(decoding: $0) }), let digest = outcome.content.digest,
            let body = try await bodies.intactBody(digest: digest, size: outcome.content.size, sha256: { SHA256Digest(of: $0).bytes })
        else { return nil }
        // The answer is as old by this machine's clock as by Redis'.
        let ago = Duration.milliseconds(max(0, queueNow - outcome.ended))
        return CachedAnswer(facts: facts.received(at: .now - ago), body: body)
    }
}
