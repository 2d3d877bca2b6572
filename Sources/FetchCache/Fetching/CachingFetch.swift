internal import GannetBasics
package import HTTPCaching
package import HTTPEngine

/// Fetching with all that is kept: who asks is answered from the nearest tier that has a good answer, and all who ask for the same at a time
/// share one fetch.
package final class CachingFetch: Sendable {
    /// What it is made of.
    package struct Parts: Sendable {
        package var downloader: any Downloader
        package var memory: MemoryCache<CacheKey, CachedAnswer>
        package var disk: AnswerDisk?
        package var shared: (any SharedTier)?
        package var policy = FreshnessPolicy()
        package var maximumInFlight = 64
        package var maximumBody: Int64 = 100_000_000
        package var userAgent: String?
        package var now: @Sendable () -> Moment = { .now }
        /// From 0 up to but not 1.
        package var random: @Sendable () -> Double = { .random(in: 0..<1) }

        package init(downloader: any Downloader, memory: MemoryCache<CacheKey, CachedAnswer>) {
            self.downloader = downloader
            self.memory = memory
        }
    }

    let parts: Parts
    let failures: FailureMemory
    let gate: DownloadGate
    let refreshes: Refreshes
    let endings = Endings()
    let removals = Removals()
    private let counts = Mutex(FetchStatistics())
    private let flights = InFlight<FlightKey, ServedAnswer>()

    package init(_ parts: Parts) {
        self.parts = parts
        failures = FailureMemory(clockTolerance: parts.policy.clockTolerance)
        gate = DownloadGate(places: parts.maximumInFlight)
        refreshes = Refreshes(most: parts.maximumInFlight)
    }

    /// The answer to a request, from wherever it is to be had.
    package func serve(_ request: FetchRequest) async -> Result<ServedAnswer, FetchError> {
        do throws(FetchError) {
            return await answer(try Asked(request, userAgent: parts.userAgent))
        } catch {
            return .failure(error)
        }
    }

    /// How many calls wait for a fetch.
    package var waiting: Int { get async { await flights.subscriberCount } }

    package var statistics: FetchStatistics { counts.withLock { $0 } }

    package func cancel(_ request: FetchRequest) async {
        guard let asked = try? Asked(request, userAgent: parts.userAgent) else { return }
        await flights.cancel { $0.key == asked.key }
    }

    package func remove(_ request: FetchRequest) async {
        guard let asked = try? Asked(request, userAgent: parts.userAgent) else { return }
        await removeHere(asked.key)
        guard let shared = parts.shared else { return }
        await shared.remove(asked.key)
        // Who began meanwhile may have found it there.
        await removeHere(asked.key)
    }

    private func removeHere(_ key: CacheKey) async {
        removals.note(key, at: parts.now())
        parts.memory.removeValue(for: key)
        failures.forget(key)
        await flights.close { $0.key == key }
        await parts.disk?.remove(key)
    }

    /// Forgets what this process keeps.
    package func removeAll() async {
        removals.noteAll(at: parts.now())
        parts.memory.removeAll()
        failures.forgetAll()
        await flights.close()
        await parts.disk?.removeAll()
    }

    /// How long `close` waits for transfers to end, and then for other processes to be told.
    private static let closingPatience = Duration.seconds(3)

    /// Calls off everything under way; returns when what has come is on the disk, and no other process is kept waiting for what has not.
    package func close() async {
        let behind = refreshes.end()
        let tasks = await flights.cancel()
        // A downloader that does not heed a cancellation is not waited for any longer.
        await endings.run(patience: Self.closingPatience) { for task in tasks + behind { await task.value } }
        // Nor is a Redis that does not reply.
        await endings.finish(patience: Self.closingPatience)
        await parts.disk?.finish()
    }

    func count(_ change: (inout FetchStatistics) -> Void) { counts.withLock { change(&$0) } }

    func decide(_ kept: CachedAnswer?, _ asked: Asked, _ now: Moment) -> LookupDecision {
        LookupDecision(kept?.facts, for: asked.facts, options: asked.options, policy: parts.policy, now: now, random: parts.random())
    }

    /// Has the origin asked while the caller goes on with what is kept.
    func refreshBehind(_ asked: Asked, _ kept: CachedAnswer) {
        let behind = asked.behind(since: kept.facts.receivedAt)
        refreshes.start(asked.key) { [self] in _ = await join(behind, .low) }
    }

    private func answer(_ asked: Asked) async -> Result<ServedAnswer, FetchError> {
        let (now, mark) = (parts.now(), removals.mark)
        let kept = parts.memory.value(for: asked.key)
        if let kept {
            switch decide(kept, asked, now) {
            case .fresh, .stale: return .success(served(kept, .memory, now))
            case .refreshEarly, .staleWhileRevalidate:
                refreshBehind(asked, kept)
                return .success(served(kept, .memory, now))
            case .revalidate, .miss, .unavailable: break
            }
        }
        // What is not in memory may be on the disk, to stand in for it.
        if kept != nil || parts.disk == nil, let instead = failed(asked, kept, now, since: mark) { return instead }
        return await join(asked, asked.request.priority)
    }

    /// What a remembered failure comes to; `nil` where there is none.
    /// - Parameter mark: When `kept` was looked for.
    func failed(
        _ asked: Asked, _ kept: CachedAnswer?, _ now: Moment, since mark: Removals.Mark
    ) -> Result<ServedAnswer, FetchError>? {
        guard !asked.options.refresh, let failure = failures.failure(for: asked.key, at: now, atMost: asked.options.maximumAge)
        else { return nil }
        count { $0.failuresServed += 1 }
        return instead(of: failure, kept, asked, since: mark)
    }

    /// A failure, or what is kept where it may stand in for it.
    func instead(
        of error: FetchError, _ stale: CachedAnswer?, _ asked: Asked, since mark: Removals.Mark
    ) -> Result<ServedAnswer, FetchError> {
        guard let stale,
            StaleIfError.permits(
                stale.facts, after: error, for: asked.facts, options: asked.options, policy: parts.policy, now: parts.now())
        else { return .failure(error) }
        keepInMemory(stale, asked.key, since: mark)
        count { $0.staleServed += 1 }
        return .success(ServedAnswer(stale, .stale))
    }

    func keepInMemory(_ answer: CachedAnswer, _ key: CacheKey, since mark: Removals.Mark) {
        parts.memory.insert(answer, for: key, cost: answer.cost)
        // Whoever removes takes a note first: either it is seen here, or what was put in is seen there.
        if removals.concern(key, since: mark) { parts.memory.removeValue(for: key) }
    }

    /// What is kept, as it is served and counted.
    func served(_ kept: CachedAnswer, _ tier: AnswerSource, _ now: Moment) -> ServedAnswer {
        let source = kept.facts.freshness.isFresh(at: now) ? tier : .stale
        count { counts in
            switch source {
            case .memory: counts.memoryHits += 1
            case .disk: counts.diskHits += 1
            case .stale: counts.staleServed += 1
            case .shared, .network, .revalidated: break
            }
        }
        return ServedAnswer(kept, source)
    }

    private func join(_ asked: Asked, _ priority: FetchPriority) async -> Result<ServedAnswer, FetchError> {
        let outcome = await flights.outcome(for: asked.flight, priority: priority) { [self] priority in
            await Flight(fetch: self, asked: asked, priority: priority, mark: removals.mark).outcome()
        }
        // The same URL may have been written in another way by whoever asked first.
        return (outcome ?? .failure(FetchError(kind: .cancelled, url: asked.request.url))).mapError { error in
            var error = error
            error.url = RedactedURL(asked.request.url)
            return error
        }
    }
}
