import Testing

@testable import GannetHTTP

struct ResolverCacheTests {
    private let start = ContinuousClock.now
    private static let address = Resolution.success([.v4(1)])

    @Test func `an outcome is forgotten at its end`() {
        var cache = ResolverCache(maximum: 10)
        cache.store(Self.address, for: "a", until: start + .seconds(5), at: start)
        #expect(cache.outcome(for: "a", at: start + .milliseconds(4999)) == Self.address)
        #expect(cache.outcome(for: "a", at: start + .seconds(5)) == nil)
        cache.store(.failure(.noAddress), for: "a", until: start + .seconds(9), at: start)
        #expect(cache.outcome(for: "a", at: start + .seconds(5)) == .failure(.noAddress))
        #expect(cache.count == 1)
    }

    @Test func `it never holds more than permitted, and keeps used names`() {
        var cache = ResolverCache(maximum: 100)
        let end = start + .seconds(100)
        cache.store(Self.address, for: "popular", until: end, at: start)
        for number in 0..<10_000 {
            cache.store(Self.address, for: "n\(number)", until: end, at: start)
            _ = cache.outcome(for: "popular", at: start)
        }
        #expect(cache.count == 100)
        #expect(cache.outcome(for: "popular", at: start) == Self.address)
        #expect(cache.outcome(for: "n9999", at: start) == Self.address)
        #expect(cache.outcome(for: "n0", at: start) == nil)
    }

    @Test func `an outcome past its end goes before a used one`() {
        var cache = ResolverCache(maximum: 2)
        cache.store(Self.address, for: "living", until: start + .seconds(100), at: start)
        cache.store(Self.address, for: "over", until: start + .seconds(1), at: start)
        _ = cache.outcome(for: "living", at: start)
        _ = cache.outcome(for: "over", at: start)
        cache.store(Self.address, for: "new", until: start + .seconds(100), at: start + .seconds(2))
        #expect(cache.outcome(for: "living", at: start + .seconds(2)) != nil)
        #expect(cache.outcome(for: "over", at: start) == nil)
    }

    @Test(
        arguments: [
            (address, 0, 1), (address, 77, 77), (address, .max, 3600), (.failure(.noSuchName), nil, 30), (.failure(.noAddress), 0, 1),
            (.failure(.noSuchName), 86_400, 300), (.failure(.timedOut), nil, 0.2), (.failure(.serverFailed(.refused)), 60, 0.2),
            (.failure(.noNameServer), 60, 0), (.failure(.systemLimit), nil, 0),
        ] as [(Resolution, UInt32?, Double)])
    func `an outcome is believed for as long as it says, within limits`(outcome: Resolution, ttl: UInt32?, seconds: Double) {
        #expect(ResolverCache.lifetime(of: outcome, ttl: ttl) == .seconds(seconds))
    }
}
