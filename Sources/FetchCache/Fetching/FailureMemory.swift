internal import HTTPEngine

/// Failures that stand for their URLs for a while, so that what cannot be had is not asked for again and again.
struct FailureMemory: Sendable {
    private struct Remembered: Sendable {
        let error: FetchError
        let until: Moment
    }

    private static let mostRemembered = 10_000
    private let failures = MemoryCache<CacheKey, Remembered>(MemoryCacheOptions(costLimit: mostRemembered, countLimit: mostRemembered))

    func remember(_ error: FetchError, for key: CacheKey, until: Moment) {
        failures.insert(Remembered(error: error, until: until), for: key, cost: 1)
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
