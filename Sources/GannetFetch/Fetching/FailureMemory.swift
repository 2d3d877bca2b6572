internal import GannetHTTP

/// Failures that are remembered for a while, so that a URL that cannot be fetched is not tried again and again.
struct FailureMemory: Sendable {
    private struct Remembered: Sendable {
        let error: FetchError
        let headers: FailureHeaders
        let since: Moment
        let until: Moment
    }

    private let failures = MemoryCache<CacheKey, Remembered>(MemoryCacheOptions(costLimit: 16 << 20, countLimit: 10_000))
    /// The age of a failure from further in the future than this is unknown: the clock was set back.
    let clockTolerance: Duration

    /// The bytes that all failures take: an origin may send a quarter of a megabyte of headers with each.
    var cost: Int { failures.totalCost }

    func remember(_ error: FetchError, for key: CacheKey, since: Moment, until: Moment) {
        var error = error
        let headers = FailureHeaders(error.headers, receivedAt: since)
        error.headers = ResponseHeaders()
        let cost = 256 + headers.byteCount + error.detail.utf8.count + error.url.description.utf8.count
        failures.insert(Remembered(error: error, headers: headers, since: since, until: until), for: key, cost: cost)
    }

    /// - Parameter age: The greatest age of the failure, besides its own time.
    func failure(for key: CacheKey, at now: Moment, atMost age: Duration?) -> FetchError? {
        guard let remembered = failures.value(for: key) else { return nil }
        guard now < remembered.until, remembered.since <= now + clockTolerance else {
            failures.removeValue(for: key)
            return nil
        }
        if let age, now - remembered.since > age { return nil }
        var error = remembered.error
        error.headers = remembered.headers.headers(at: now)
        return error
    }

    func forget(_ key: CacheKey) { failures.removeValue(for: key) }
    func forgetAll() { failures.removeAll() }
}
