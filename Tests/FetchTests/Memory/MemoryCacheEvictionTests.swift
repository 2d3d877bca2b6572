import GannetFetch
import Testing

@Suite(.timeLimit(.minutes(3))) struct MemoryCacheEvictionTests {
    /// Asks for keys in turn, putting in what is not there, and answers how many were.
    private func request(_ cache: MemoryCache<Int, Int>, _ keys: some Sequence<Int>, cost: (Int) -> Int = { _ in 1 }) -> Int {
        var hits = 0
        for key in keys {
            if cache.value(for: key) != nil { hits += 1 } else { cache.insert(key, for: key, cost: cost(key)) }
        }
        return hits
    }

    @Test func `a scan does not push out what is in use`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 1000))
        for _ in 0..<3 { _ = request(cache, 0..<500) }
        #expect(request(cache, 10_000..<60_000) == 0)
        #expect(request(cache, 0..<500) >= 495)
    }

    @Test func `nor does a scan of large entries`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 100_000))
        for _ in 0..<3 { _ = request(cache, 0..<500, cost: { _ in 100 }) }
        #expect(request(cache, 10_000..<20_000, cost: { _ in 9000 }) == 0)
        #expect(request(cache, 0..<500, cost: { _ in 100 }) >= 495)
    }

    @Test func `entries that are no longer asked for make room for others`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 1000))
        for _ in 0..<5 { _ = request(cache, 0..<900) }
        for _ in 0..<10 { _ = request(cache, 5000..<5900) }
        #expect(request(cache, 5000..<5900) == 900)
    }

    @Test func `an entry that returns soon after it left survives the next scan`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 100))
        // The first ones are in the main queue, so that there is something to remember returns by.
        for _ in 0..<2 { _ = request(cache, 0..<80) }
        cache.insert(1, for: 1000, cost: 1)
        _ = request(cache, 2000..<2050)
        #expect(!cache.contains(1000))
        cache.insert(1, for: 1000, cost: 1)
        _ = request(cache, 3000..<3050)
        #expect(cache.contains(1000))
        // An entry that returns later than that counts as new.
        _ = request(cache, 4000..<6000)
        #expect(!cache.contains(3020))
        cache.insert(1, for: 3020, cost: 1)
        _ = request(cache, 7000..<7050)
        #expect(!cache.contains(3020))
    }

    @Test func `asking whether a value is there does not keep it`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 100))
        _ = request(cache, 0..<100)
        _ = request(cache, 0..<50)
        cache.insert(1, for: 1000, cost: 1)
        cache.insert(1, for: 1001, cost: 1)
        for _ in 0..<10 { #expect(cache.contains(1000)) }
        #expect(cache.value(for: 1001) == 1)
        _ = request(cache, 2000..<2020)
        #expect(!cache.contains(1000) && cache.contains(1001))
    }

    @Test func `trimming removes the entries that would be evicted next`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 10_000))
        _ = request(cache, 0..<10_000)
        for key in stride(from: 0, to: 10_000, by: 2) { _ = cache.value(for: key) }
        cache.trim(toCost: 5000)
        #expect(cache.totalCost == 5000)
        #expect(stride(from: 0, to: 10_000, by: 2).count { cache.contains($0) } > 4000)
        cache.trim(toCost: 5000)
        #expect(cache.totalCost == 5000 && cache.statistics.evictions == 5000)
        cache.trim(toCost: -1)
        #expect(cache.count == 0)
    }

    @Test func `where all that is new is asked for once more a little later, most of that is found`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 1000))
        // Each key comes back after 299 others, which a tenth of the cache does not hold.
        let keys = (0..<50_000).flatMap { [$0, $0 - 150] }
        _ = request(cache, keys.prefix(80_000))
        #expect(request(cache, keys.suffix(20_000)) > 9000)
    }
}
