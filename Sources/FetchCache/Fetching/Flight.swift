internal import HTTPCaching
internal import HTTPEngine

/// One fetch of one URL, for all who wait for it: looks where somebody who has just asked could not look, and else asks the origin.
struct Flight: Sendable {
    let fetch: CachingFetch
    let asked: Asked
    let priority: FlightPriority
    /// When it began: what it finds is held against the removals since.
    let mark: Removals.Mark

    var parts: CachingFetch.Parts { fetch.parts }

    private var disk: AnswerDisk? { asked.isSecret ? nil : parts.disk }

    /// So often the right to fetch may be lost and asked for again. Each time somebody else has taken it over.
    private static let mostAttempts = 3

    func outcome() async -> Result<ServedAnswer, FetchError> {
        // Another may have landed since whoever asked looked.
        var stale = parts.memory.value(for: asked.key)
        if let stale, let served = serve(stale, .memory) { return .success(served) }
        // One that was removed while it was read, or that its disk does not let go of, is not there.
        if let disk, let kept = await disk.answer(for: asked.key), !fetch.removals.concern(asked.key, since: mark), !wasRemoved(kept) {
            if let served = serve(kept, .disk) { return .success(served) }
            stale = .newer(stale, kept)
        }
        if let instead = fetch.failed(asked, stale, parts.now(), since: mark) { return instead }
        if asked.options.onlyIfCached {
            return .failure(
                FetchError(kind: .status(504), url: asked.request.url, detail: "nothing that is kept will do, and nothing is to be fetched")
            )
        }
        guard !asked.isSecret, let shared = parts.shared else { return await attempt(nil, stale).outcome ?? .failure(cancellation) }
        var ask = ask
        for _ in 0..<Self.mostAttempts {
            if let outcome = await throughShared(shared, &ask, &stale) { return outcome }
        }
        return .failure(
            FetchError(kind: .timeout(.response), url: asked.request.url, detail: "the right to fetch it was lost several times"))
    }

    /// Whether it has come since the caller was answered behind whom this asks.
    private func isNews(_ kept: CachedAnswer) -> Bool { asked.behindSince.map { kept.facts.receivedAt > $0 } ?? false }

    /// Serves what is kept, if it may be served without asking; and keeps it in memory, where it was not.
    private func serve(_ kept: CachedAnswer, _ source: AnswerSource) -> ServedAnswer? {
        let now = parts.now()
        switch isNews(kept) ? .fresh : fetch.decide(kept, asked, now) {
        case .fresh, .stale: break
        case .refreshEarly, .staleWhileRevalidate: fetch.refreshBehind(asked, kept)
        case .revalidate, .miss, .unavailable: return nil
        }
        if source != .memory { fetch.keepInMemory(kept, asked.key, since: mark) }
        return fetch.served(kept, source, now)
    }

    /// `nil` when the right to fetch has to be asked for again.
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
            fetch.count { $0.sharedHits += 1 }
            keep(answer, since: mark)
            return .success(ServedAnswer(answer, .shared))
        case .failed(let error):
            fetch.count { $0.failuresServed += 1 }
            return fetch.instead(of: error, stale, asked, since: mark)
        case .notShared: return await attempt(nil, stale).outcome ?? .failure(cancellation)
        case .unavailable:
            fetch.count { $0.sharedUnavailable += 1 }
            return await attempt(nil, stale).outcome ?? .failure(cancellation)
        case .cancelled: return .failure(cancellation)
        case .leased(let lease):
            let stale = CachedAnswer.newer(stale, lease.stale)
            if asked.behindSince == nil, let stale, let served = await serveWhileAsking(stale, lease) { return .success(served) }
            return await attempt(lease, stale).outcome
        }
    }

    private func mayBeServed(_ answer: CachedAnswer) -> Bool {
        switch fetch.decide(answer, asked, parts.now()) {
        case .fresh, .refreshEarly, .stale, .staleWhileRevalidate: true
        case .revalidate, .miss, .unavailable: false
        }
    }

    /// Where what there is may be served while the origin is asked: the right to ask goes to a fetch of its own.
    private func serveWhileAsking(_ stale: CachedAnswer, _ lease: any SharedLease) async -> ServedAnswer? {
        guard case .staleWhileRevalidate = fetch.decide(stale, asked, parts.now()) else { return nil }
        let behind = Flight(fetch: fetch, asked: asked.behind(since: stale.facts.receivedAt), priority: FlightPriority(.low), mark: mark)
        let starts = fetch.refreshes.start(asked.key) { _ = await behind.attempt(lease, stale) }
        guard starts else { return nil }
        fetch.count { $0.staleServed += 1 }
        return ServedAnswer(stale, .stale)
    }

    private var ask: SharedAsk {
        var ask = SharedAsk(key: asked.key, url: asked.canonicalURL)
        ask.refresh = asked.options.refresh && asked.behindSince == nil
        ask.maximumAge = asked.options.maximumAge
        // What has come since then is younger than this.
        if let since = asked.behindSince { ask.maximumAge = max(.zero, parts.now() - since - .milliseconds(1)) }
        return ask
    }

    /// Puts an answer where the next who asks in this process finds it.
    /// - Parameter mark: When it was asked for, or found.
    func keep(_ answer: CachedAnswer, since mark: Removals.Mark) {
        if fetch.removals.concern(asked.key, since: mark) { return }
        // One that was asked for later may have come sooner; or the clock was set back since.
        if let there = parts.memory.value(for: asked.key)?.facts.requestedAt, there > answer.facts.requestedAt,
            there <= parts.now() + parts.policy.clockTolerance
        {
            return
        }
        fetch.failures.forget(asked.key)
        fetch.keepInMemory(answer, asked.key, since: mark)
        // On a disk that does not let go of what was cleared it could not be told from that.
        guard !wasRemoved(answer) else { return }
        disk?.keep(answer, for: asked.key) { [removals = fetch.removals, key = asked.key] in removals.concern(key, since: mark) }
    }

    private func wasRemoved(_ answer: CachedAnswer) -> Bool {
        fetch.removals.outdate(
            asked.key, askedAt: answer.facts.requestedAt, now: parts.now(), tolerance: parts.policy.clockTolerance)
    }

    /// What was kept of the URL is out of date, and what has come in its place may not be kept.
    func forget() async {
        parts.memory.removeValue(for: asked.key)
        await disk?.remove(asked.key)
    }

    var cancellation: FetchError { FetchError(kind: .cancelled, url: asked.request.url) }
}
