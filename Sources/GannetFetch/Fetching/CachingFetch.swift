internal import GannetBase
package import GannetHTTP

/// Answers requests from the nearest tier that has a usable answer. Callers that want the same URL at the same time share one fetch.
package final class CachingFetch: Sendable {
    /// The parts and settings that it is made of.
    package struct Parts: Sendable {
        package var downloader: any Downloader
        package var memory: MemoryCache<CacheKey, CachedAnswer>
        package var disk: AnswerDisk?
        package var shared: (any SharedTier)?
        package var policy = FreshnessPolicy()
        package var maximumInFlight = 64
        /// The most transfers at a time at each host; nil for no such limit.
        package var maximumAtHost: Int?
        /// The places at hosts that processes share. While these are unknown, `maximumAtHost` holds.
        package var sharedHosts: (any SharedHosts)?
        package var retries = RetryRule()
        /// Whether all callers are of one user. Else an answer that is `private` or `no-store` goes to the caller alone for whom it was
        /// fetched, and callers that waited with it fetch for themselves.
        package var callersAreOne = true
        package var maximumBody: Int64 = 100_000_000
        package var userAgent: String?
        package var now: @Sendable () -> Moment = { .now }
        /// From 0 up to but not 1.
        package var random: @Sendable () -> Double = { .random(in: 0..<1) }
        /// Waits before another attempt, and for as long as something may take. Throws when the task is cancelled.
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        package var observer: (@Sendable (FetchEvent) -> Void)?
        /// Adds to a failure, for callers and the observer, the setting of theirs that would help. Failures are kept and shared without it,
        /// because other processes have other names for their settings.
        package var advised: @Sendable (FetchError) -> FetchError = { $0 }
        /// The most bytes, or other costs, that values may take, and the most URLs with values.
        package var values = MemoryCacheOptions(costLimit: 64 << 20, countLimit: 10_000)

        package init(downloader: any Downloader, memory: MemoryCache<CacheKey, CachedAnswer>) {
            self.downloader = downloader
            self.memory = memory
        }
    }

    let parts: Parts
    let failures: FailureMemory
    let gates: TransferPlaces.Gates
    let values: ValueShelf
    let valueFetches: SharedFetches<ValueFetchKey, MadeValue>
    let refreshes: Refreshes
    let endings: Endings
    let removals = Removals()
    /// Set by ``close()``: no fetch begins any more.
    let isClosed = SharedFlag()
    private let counts = Mutex(FetchStatistics())
    private let sharedFetches: SharedFetches<SharedFetchKey, ServedAnswer>

    package init(_ parts: Parts) {
        self.parts = parts
        failures = FailureMemory(clockTolerance: parts.policy.clockTolerance)
        gates = TransferPlaces.Gates(
            all: DownloadGate(places: parts.maximumInFlight), hosts: parts.maximumAtHost.map { HostGates(limit: $0) },
            shared: parts.sharedHosts)
        values = ValueShelf(parts.values)
        refreshes = Refreshes(most: parts.maximumInFlight)
        endings = Endings(sleep: parts.sleep)
        valueFetches = SharedFetches(sleep: parts.sleep)
        sharedFetches = SharedFetches(sleep: parts.sleep)
    }

    /// The answer to a request, from whichever tier has it, or from its origin.
    package func serve(_ request: AnswerRequest, _ caller: Caller? = nil) async -> Result<ServedAnswer, FetchError> {
        let start = ContinuousClock.now
        let result: Result<ServedAnswer, FetchError>
        do throws(FetchError) {
            result = await answer(try CheckedRequest(request, userAgent: parts.userAgent), caller).mapError(parts.advised)
        } catch {
            result = .failure(error)
        }
        guard let observer = parts.observer else { return result }
        switch result {
        case .success(let answer):
            observer(.answered(RedactedURL(request.url), from: answer.source, bytes: answer.body.count, after: .now - start))
        case .failure(let error): observer(.failed(error, after: .now - start))
        }
        return result
    }

    /// The answer to a request if it is in memory and may be used as it is. It costs no task.
    package func servedAtOnce(_ request: AnswerRequest) -> ServedAnswer? {
        guard let checked = try? CheckedRequest(request, userAgent: parts.userAgent), let kept = parts.memory.value(for: checked.key) else {
            return nil
        }
        let now = parts.now()
        guard mayUse(kept.facts, checked, now) else { return nil }
        let served = served(kept, .memory, now)
        parts.observer?(.answered(RedactedURL(request.url), from: served.source, bytes: served.body.count, after: .zero))
        return served
    }

    /// How many calls wait for a fetch.
    package var waiting: Int { get async { await sharedFetches.subscriberCount } }

    /// The present priority of a request's fetch; nil without one.
    package func priority(of request: AnswerRequest) async -> FetchPriority? {
        guard let checked = try? CheckedRequest(request, userAgent: parts.userAgent) else { return nil }
        return await sharedFetches.priority(of: checked.sharedFetchKey)
    }

    package var statistics: FetchStatistics {
        var statistics = counts.withLock { $0 }
        statistics.memory = TierStatistics(parts.memory)
        statistics.values = values.statistics
        if let disk = parts.disk {
            statistics.disk = disk.statistics
            (statistics.diskFailures, statistics.lastDiskFailure) = disk.failures
        }
        return statistics
    }

    package func cancel(_ request: AnswerRequest) async {
        guard let checked = try? CheckedRequest(request, userAgent: parts.userAgent) else { return }
        await valueFetches.cancel { $0.fetch.key == checked.key }
        await sharedFetches.cancel { $0.key == checked.key }
    }

    /// Removes what is kept of a request's URL from all tiers.
    ///
    /// Throws for a URL that cannot be requested, and when the shared tier cannot be reached. That tier may keep its answer then.
    package func remove(_ request: AnswerRequest) async throws {
        let checked = try CheckedRequest(request, userAgent: parts.userAgent)
        await removeHere(checked.key)
        guard let shared = parts.shared else { return }
        var failure: (any Error)?
        do { try await shared.remove(checked.key, url: checked.canonicalURL) } catch { failure = error }
        // A fetch that began in between may have found the answer in the shared tier.
        await removeHere(checked.key)
        if let failure { throw failure }
    }

    private func removeHere(_ key: CacheKey) async {
        removals.note(key, at: parts.now())
        parts.memory.removeValue(for: key)
        values.forget(key)
        failures.forget(key)
        await valueFetches.close { $0.fetch.key == key }
        await sharedFetches.close { $0.key == key }
        await parts.disk?.remove(key)
    }

    /// Removes all answers and failures that this process keeps.
    package func removeAll() async {
        removals.noteAll(at: parts.now())
        parts.memory.removeAll()
        values.forgetAll()
        failures.forgetAll()
        await valueFetches.close()
        await sharedFetches.close()
        await parts.disk?.removeAll()
    }

    /// Takes answers and values out of memory, until each of the two takes no more than this.
    package func trimMemory(toCost limit: Int) {
        parts.memory.trim(toCost: max(0, limit))
        values.trim(toCost: max(0, limit))
    }

    /// How long `close` waits for transfers to end, and after that for the shared tier.
    private static let closingPatience = Duration.seconds(3)

    /// Cancels all fetches, and lets none begin. Returns when all answers are on the disk and the leases of the shared tier are given up.
    package func close() async {
        isClosed.set()
        let behind = refreshes.end()
        let tasks = await valueFetches.cancel() + sharedFetches.cancel()
        // A downloader may ignore its cancellation, and a Redis may not reply: both waits are bounded.
        // Transfers that go on all the same are not waited for again with the shared tier.
        await Endings(sleep: parts.sleep).run(patience: Self.closingPatience) { for task in tasks + behind { await task.value } }
        await endings.finish(patience: Self.closingPatience)
        await parts.disk?.finish()
    }

    func count(_ change: (inout FetchStatistics) -> Void) { counts.withLock { change(&$0) } }

    func decide(_ kept: StoredAnswer?, _ checked: CheckedRequest, _ now: Moment) -> LookupDecision {
        LookupDecision(
            kept, for: checked.facts, options: checked.options, policy: parts.policy, now: now, random: parts.random())
    }

    /// Whether a kept answer needs no question to its origin before it is used. The origin of an answer that is
    /// almost or just out of date is asked in the background.
    func mayUse(_ kept: StoredAnswer, _ checked: CheckedRequest, _ now: Moment) -> Bool {
        switch decide(kept, checked, now) {
        case .fresh, .stale: return true
        case .refreshEarly, .staleWhileRevalidate:
            refreshBehind(checked, kept)
            return true
        case .revalidate, .miss, .unavailable: return false
        }
    }

    private func refreshBehind(_ checked: CheckedRequest, _ kept: StoredAnswer) {
        let behind = checked.behind(since: kept.receivedAt)
        refreshes.start(checked.key) { [self] in _ = await join(behind, Caller(.low)) }
    }

    private func answer(_ checked: CheckedRequest, _ caller: Caller?) async -> Result<ServedAnswer, FetchError> {
        let (now, mark) = (parts.now(), removals.mark)
        let kept = parts.memory.value(for: checked.key)
        if let kept, mayUse(kept.facts, checked, now) { return .success(served(kept, .memory, now)) }
        // An answer that is not in memory may be on the disk, and may replace the failure. Only the shared fetch looks there.
        if kept != nil || parts.disk == nil, let instead = failed(checked, kept, now, since: mark) { return instead }
        return await join(checked, caller ?? Caller(checked.request.priority))
    }

    /// The outcome of a remembered failure; `nil` without one.
    /// - Parameter mark: Taken when `kept` was looked up.
    func failed(
        _ checked: CheckedRequest, _ kept: CachedAnswer?, _ now: Moment, since mark: Removals.Mark
    ) -> Result<ServedAnswer, FetchError>? {
        guard !checked.options.refresh, let failure = failures.failure(for: checked.key, at: now, atMost: checked.options.maximumAge)
        else { return nil }
        count { $0.failuresServed += 1 }
        return instead(of: failure, kept, checked, since: mark)
    }

    /// The kept answer where it may replace a failure, and else the failure.
    func instead(
        of error: FetchError, _ stale: CachedAnswer?, _ checked: CheckedRequest, since mark: Removals.Mark
    ) -> Result<ServedAnswer, FetchError> {
        guard let stale,
            stale.facts.mayReplace(error, for: checked.facts, options: checked.options, policy: parts.policy, now: parts.now())
        else { return .failure(error) }
        keepInMemory(stale, checked.key, since: mark)
        count { $0.staleServed += 1 }
        return .success(ServedAnswer(stale, .stale, at: parts.now()))
    }

    func keepInMemory(_ answer: CachedAnswer, _ key: CacheKey, since mark: Removals.Mark) {
        parts.memory.insert(answer, for: key, cost: answer.cost)
        // A removal is noted before the memory is cleared: either this look finds the note, or the removal finds the answer.
        if removals.concern(key, since: mark) { parts.memory.removeValue(for: key) }
    }

    /// A kept answer as its caller gets it; counts it too.
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
        return ServedAnswer(kept, source, at: now)
    }

    private func join(_ checked: CheckedRequest, _ caller: Caller) async -> Result<ServedAnswer, FetchError> {
        let (start, isOwn) = (ContinuousClock.now, SharedFlag())
        let outcome = await sharedFetches.outcome(for: checked.sharedFetchKey, caller) { [self] work in
            isOwn.set()
            return await SharedFetch(fetch: self, checked: checked, work: work, mark: removals.mark).outcome()
        }
        if case .success(let answer)? = outcome, answer.isForOneRequest, !isOwn.isSet, !parts.callersAreOne {
            return await join(checked.forItself(), caller.after(.now - start))
        }
        return own(outcome, url: checked.request.url)
    }

    /// The outcome of a shared fetch for one of its callers: the first caller may have written the same URL in another way.
    /// - Parameter outcome: nil for a caller that was cancelled.
    func own<Value>(_ outcome: Result<Value, FetchError>?, url: String) -> Result<Value, FetchError> {
        (outcome ?? .failure(FetchError(kind: .cancelled, url: url))).mapError { error in
            var error = error
            error.url = RedactedURL(url)
            return error
        }
    }
}
