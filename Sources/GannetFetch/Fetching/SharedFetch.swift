internal import GannetBase
internal import GannetHTTP

/// One fetch of one URL for all callers that wait for it. It looks in the tiers that are slower than memory, and then asks the origin.
struct SharedFetch: Sendable {
    let fetch: CachingFetch
    let checked: CheckedRequest
    let work: SharedWork
    /// Taken at the start: removals since then concern every answer that this fetch finds.
    let mark: Removals.Mark

    var parts: CachingFetch.Parts { fetch.parts }

    private var disk: AnswerDisk? { checked.isSecret ? nil : parts.disk }

    /// How often the lease may be lost and asked for again. Each time another process has taken it over.
    private static let mostAttempts = 3

    func outcome() async -> Result<ServedAnswer, FetchError> {
        // Another fetch may have ended since the caller looked.
        var stale = parts.memory.value(for: checked.key)
        if let stale, let served = serve(stale, .memory) { return .success(served) }
        // An answer that was removed while it was read does not count, nor does one that its disk failed to remove.
        if let disk, let kept = await disk.answer(for: checked.key), !fetch.removals.concern(checked.key, since: mark), !wasRemoved(kept) {
            if let served = serve(kept, .disk) { return .success(served) }
            stale = .newer(stale, kept)
        }
        if let instead = fetch.failed(checked, stale, parts.now(), since: mark) { return instead }
        if checked.options.onlyIfCached {
            if !checked.isSecret, let answer = await parts.shared?.kept(ask), mayBeServed(answer) { return .success(found(answer)) }
            return .failure(error(.status(504), "no kept answer is usable, and the request forbids a fetch (only-if-cached)"))
        }
        // Looked at after this fetch has come into the table: it is refused here, or `close` cancels it.
        if fetch.isClosed.isSet { return .failure(error(.cancelled, "the fetcher was closed")) }
        guard checked.mayBeShared, let shared = parts.shared else { return await attempt(nil, stale) ?? .failure(cancellation) }
        var ask = ask
        for _ in 0..<Self.mostAttempts {
            if let outcome = await throughShared(shared, &ask, &stale) { return outcome }
        }
        return .failure(error(.timeout(.response), "other processes took over the lock of the URL several times"))
    }

    /// Whether the answer came after the one that the caller in front has got.
    private func isNews(_ kept: CachedAnswer) -> Bool { checked.behindSince.map { kept.facts.receivedAt > $0 } ?? false }

    /// Serves a kept answer that needs no question to its origin. An answer from a slower tier is put into memory.
    private func serve(_ kept: CachedAnswer, _ source: AnswerSource) -> ServedAnswer? {
        let now = parts.now()
        guard isNews(kept) || fetch.mayUse(kept.facts, checked, now) else { return nil }
        if source != .memory { fetch.keepInMemory(kept, checked.key, since: mark) }
        return fetch.served(kept, source, now)
    }

    /// `nil` when the lease has to be asked for again.
    private func throughShared(
        _ shared: any SharedTier, _ ask: inout SharedAsk, _ stale: inout CachedAnswer?
    ) async -> Result<ServedAnswer, FetchError>? {
        switch await shared.acquire(ask) {
        case .found(let answer, let hasComeSince):
            guard hasComeSince || isNews(answer) || mayBeServed(answer) else {
                stale = .newer(stale, answer)
                ask.refresh = true
                return nil
            }
            return .success(found(answer))
        case .failed(let error, let hasComeSince):
            guard hasComeSince || ask.refresh || parts.policy.failures.remembers(error) else {
                ask.refresh = true
                return nil
            }
            fetch.count { $0.failuresServed += 1 }
            return fetch.instead(of: error, stale, checked, since: mark)
        case .notShared: return await attempt(nil, stale) ?? .failure(cancellation)
        case .unavailable:
            fetch.count { $0.sharedUnavailable += 1 }
            return await attempt(nil, stale) ?? .failure(cancellation)
        case .cancelled: return .failure(cancellation)
        case .leased(let lease):
            let stale = CachedAnswer.newer(stale, lease.stale)
            if checked.behindSince == nil, let stale, let served = await serveWhileAsking(stale, lease) { return .success(served) }
            work.elsewhere.ask { await lease.isWantedElsewhere() }
            defer { work.elsewhere.ask(nil) }
            return await attempt(lease, stale)
        }
    }

    /// Serves an answer of the shared tier.
    private func found(_ answer: CachedAnswer) -> ServedAnswer {
        fetch.count { $0.sharedHits += 1 }
        keep(answer, since: mark)
        return ServedAnswer(answer, .shared, at: parts.now())
    }

    private func mayBeServed(_ answer: CachedAnswer) -> Bool {
        switch fetch.decide(answer.facts, checked, parts.now()) {
        case .fresh, .refreshEarly, .stale, .staleWhileRevalidate: true
        case .revalidate, .miss, .unavailable: false
        }
    }

    /// Serves a stale answer that may be used while the origin is asked. The lease goes to a fetch in the background.
    private func serveWhileAsking(_ stale: CachedAnswer, _ lease: any SharedLease) async -> ServedAnswer? {
        guard case .staleWhileRevalidate = fetch.decide(stale.facts, checked, parts.now()) else { return nil }
        let behind = SharedFetch(
            fetch: fetch, checked: checked.behind(since: stale.facts.receivedAt), work: SharedWork(.low), mark: mark)
        guard fetch.refreshes.start(checked.key, { _ = await behind.attempt(lease, stale) }) else { return nil }
        fetch.count { $0.staleServed += 1 }
        return ServedAnswer(stale, .stale, at: parts.now())
    }

    private var ask: SharedAsk {
        var ask = SharedAsk(key: checked.key, url: checked.canonicalURL)
        ask.refresh = checked.options.refresh && checked.behindSince == nil
        ask.maximumAge = checked.options.maximumAge
        // An answer that came after that moment is younger than this.
        if let since = checked.behindSince { ask.maximumAge = max(.zero, parts.now() - since - .milliseconds(1)) }
        return ask
    }

    /// Puts an answer where the next caller in this process finds it.
    /// - Parameter mark: Taken when the answer was requested, or found.
    func keep(_ answer: CachedAnswer, since mark: Removals.Mark) {
        if fetch.removals.concern(checked.key, since: mark) { return }
        // The kept answer may be the newer one: its request was later and its answer sooner. A clock that was set back is no reason.
        if let there = parts.memory.value(for: checked.key)?.facts.requestedAt, there > answer.facts.requestedAt,
            there <= parts.now() + parts.policy.clockTolerance
        {
            return
        }
        fetch.failures.forget(checked.key)
        fetch.values.renew(answer.facts, for: checked.key)
        fetch.keepInMemory(answer, checked.key, since: mark)
        // On a disk that failed to remove older answers, this one could not be told from them.
        guard !wasRemoved(answer) else { return }
        disk?.keep(answer, for: checked.key) { [removals = fetch.removals, key = checked.key] in removals.concern(key, since: mark) }
    }

    private func wasRemoved(_ answer: CachedAnswer) -> Bool {
        fetch.removals.outdate(
            checked.key, askedAt: answer.facts.requestedAt, now: parts.now(), tolerance: parts.policy.clockTolerance)
    }

    /// Removes the kept answer of the URL: it is out of date, and the new one may not be kept.
    func forget() async {
        fetch.values.forget(checked.key)
        parts.memory.removeValue(for: checked.key)
        await disk?.remove(checked.key)
    }

    func error(_ kind: FetchError.Kind, _ detail: String) -> FetchError {
        FetchError(kind: kind, url: checked.request.url, detail: detail)
    }

    var cancellation: FetchError { FetchError(kind: .cancelled, url: checked.request.url) }
}
