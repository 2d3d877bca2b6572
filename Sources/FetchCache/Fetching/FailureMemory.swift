internal import HTTPEngine

/// Failures that stand for their URLs for a while, so that what cannot be had is not asked for again and again.
struct FailureMemory: Sendable {
    private struct Remembered: Sendable {
        let error: FetchError
        let until: Moment
    }

    private let failures = MemoryCache<CacheKey, Remembered>(MemoryCacheOptions(costLimit: 16 << 20, countLimit: 10_000))

    /// What all that is remembered takes: an origin may send a quarter of a megabyte of headers with each of its failures.
    var cost: Int { failures.totalCost }

    func remember(_ error: FetchError, for key: CacheKey, until: Moment) {
        let cost = 256 + error.headers.byteCount + error.detail.utf8.count + error.url.description.utf8.count
        failures.insert(Remembered(error: error, until: until), for: key, cost: cost)
    }

    func failure(for key: CacheKey, at now: Moment) -> FetchError? {
        guard let remembered = failures.value(for: key) else { return nil }
        if now < remembered.until { return remembered.error }
        failures.removeValue(for: key)
        return nil
    }

    func forget(_ key: CacheKey) { failures.removeValue(for: key) }
    func forgetAll() { failures.removeAll() }
}
