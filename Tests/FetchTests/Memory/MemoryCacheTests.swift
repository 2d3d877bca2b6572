import GannetFetch
import Testing

@Suite(.timeLimit(.minutes(3))) struct MemoryCacheTests {
    private let cache = MemoryCache<String, Int>(.init(costLimit: 100, countLimit: 10, largestCost: 50))

    @Test func `a value is found under its key until it is removed`() {
        #expect(cache.insert(1, for: "a", cost: 5))
        #expect(cache.insert(2, for: "b", cost: 6))
        #expect(cache.value(for: "a") == 1 && cache.value(for: "b") == 2 && cache.value(for: "c") == nil)
        #expect(cache.count == 2 && cache.totalCost == 11)
        #expect(cache.removeValue(for: "a") == 1)
        #expect(cache.removeValue(for: "a") == nil)
        #expect(cache.value(for: "a") == nil && cache.value(for: "b") == 2)
        #expect(cache.count == 1 && cache.totalCost == 6)
    }

    @Test func `a new value replaces the old one and its cost`() {
        cache.insert(1, for: "a", cost: 40)
        cache.insert(2, for: "b", cost: 40)
        #expect(cache.insert(3, for: "a", cost: 10))
        #expect(cache.value(for: "a") == 3 && cache.count == 2 && cache.totalCost == 50)
        #expect(cache.insert(4, for: "a", cost: 50))
        #expect(cache.value(for: "a") == 4 && cache.value(for: "b") == 2 && cache.totalCost == 90)
    }

    @Test func `an entry that grows makes the others go and not itself`() {
        for number in 0..<10 { cache.insert(number, for: "\(number)", cost: 10) }
        #expect(cache.insert(99, for: "0", cost: 50))
        #expect(cache.value(for: "0") == 99 && cache.count == 6 && cache.totalCost == 100)
    }

    @Test(arguments: [-1, Int.min, 51, Int.max])
    func `a value whose cost is negative or above the largest is refused, and removes the old value`(cost: Int) {
        cache.insert(1, for: "a", cost: 5)
        cache.insert(2, for: "b", cost: 5)
        #expect(!cache.insert(3, for: "a", cost: cost))
        #expect(cache.value(for: "a") == nil && cache.value(for: "b") == 2)
        #expect(cache.totalCost == 5 && cache.statistics.refusals == 1)
    }

    @Test func `entries without cost are limited by their number`() {
        for number in 0..<1000 { #expect(cache.insert(number, for: "\(number)", cost: 0)) }
        #expect(cache.count == 10 && cache.totalCost == 0)
    }

    @Test(arguments: [(0, 10), (10, 0), (-1, 10), (10, .min), (0, 0)])
    func `with limits of zero or less no entry is cached`(costLimit: Int, countLimit: Int) {
        let cache = MemoryCache<Int, Int>(.init(costLimit: costLimit, countLimit: countLimit))
        #expect(!cache.insert(1, for: 1, cost: 0))
        #expect(!cache.insert(1, for: 1, cost: 1))
        #expect(cache.value(for: 1) == nil && cache.count == 0)
    }

    @Test func `the largest limits and costs there are do no harm`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: .max, countLimit: .max, largestCost: .max))
        for number in 0..<10 { #expect(cache.insert(number, for: number, cost: .max)) }
        #expect(cache.count == 1 && cache.totalCost == .max)
        #expect(cache.insert(1, for: 100, cost: 1))
        #expect(cache.count == 1 && cache.totalCost == 1)
    }

    @Test func `unless told otherwise an entry may cost an eighth of the limit, and at least one`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 80))
        #expect(cache.insert(1, for: 1, cost: 10))
        #expect(!cache.insert(1, for: 2, cost: 11))
        let tiny = MemoryCache<Int, Int>(.init(costLimit: 2))
        #expect(tiny.insert(1, for: 1, cost: 1) && tiny.insert(1, for: 2, cost: 1) && tiny.count == 2)
    }

    @Test func `with a negative largest cost no entry is cached`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 80, largestCost: -1))
        #expect(!cache.insert(1, for: 1, cost: 0))
    }

    @Test func `all values can be removed, and a value inserted afterwards is found`() {
        for number in 0..<10 { cache.insert(number, for: "\(number)", cost: 10) }
        cache.removeAll()
        #expect(cache.count == 0 && cache.totalCost == 0 && cache.value(for: "1") == nil)
        cache.insert(1, for: "1", cost: 10)
        #expect(cache.value(for: "1") == 1 && cache.count == 1)
    }

    @Test func `values can be removed by their keys`() {
        let cache = MemoryCache<Int, Int>(.init(costLimit: 10_000))
        for number in 0..<3000 { cache.insert(number, for: number, cost: 1) }
        cache.removeAll {
            // The cache may be called in the middle of it.
            cache.contains($0) && $0 % 3 == 0
        }
        #expect(cache.count == 2000)
        #expect((0..<3000).allSatisfy { (cache.value(for: $0) == nil) == ($0 % 3 == 0) })
    }

    @Test func `the statistics tell what happened`() {
        for number in 0..<12 { cache.insert(number, for: "\(number)", cost: 1) }
        cache.insert(0, for: "11", cost: 1)
        _ = cache.value(for: "11")
        _ = cache.value(for: "x")
        _ = cache.value(for: "y")
        _ = cache.contains("11")
        cache.insert(1, for: "11", cost: -1)
        cache.removeAll()
        let statistics = cache.statistics
        #expect(statistics.hits == 1 && statistics.misses == 2 && statistics.insertions == 13)
        #expect(statistics.evictions == 2 && statistics.refusals == 1 && statistics.expirations == 0)
        #expect(statistics.hitRate == 1.0 / 3)
        #expect(MemoryCacheStatistics().hitRate == 0)
    }
}
