import GannetFetch
import Testing

@Suite(.timeLimit(.minutes(3))) struct MemoryCacheExpiryTests {
    private let clock = ManualClock()
    private let cache: MemoryCache<Int, Int>

    init() { cache = MemoryCache(.init(costLimit: 100, countLimit: 10, largestCost: 100), clock: clock) }

    @Test func `a value is found until its time is over`() {
        cache.insert(1, for: 1, cost: 1, timeToLive: .seconds(10))
        cache.insert(2, for: 2, cost: 1)
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(cache.value(for: 1) == 1 && cache.contains(1))
        clock.advance(by: .nanoseconds(1))
        #expect(!cache.contains(1) && cache.count == 2)
        #expect(cache.value(for: 1) == nil && cache.value(for: 2) == 2)
        // A look-up frees it.
        #expect(cache.count == 1 && cache.totalCost == 1)
        #expect(cache.statistics.expirations == 1 && cache.statistics.misses == 1 && cache.statistics.evictions == 0)
    }

    @Test func `expired entries are the first to make room, even if they were in use`() {
        for number in 0..<10 { cache.insert(number, for: number, cost: 1, timeToLive: number % 2 == 0 ? .seconds(number + 1) : nil) }
        for number in 0..<10 { for _ in 0..<3 { _ = cache.value(for: number) } }
        clock.advance(by: .seconds(5))
        for number in 10..<13 { cache.insert(number, for: number, cost: 1) }
        #expect((0..<13).filter { cache.contains($0) } == [1, 3, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(cache.statistics.expirations == 3 && cache.statistics.evictions == 0)
    }

    @Test func `a new value has a time of its own`() {
        cache.insert(1, for: 1, cost: 1, timeToLive: .seconds(5))
        clock.advance(by: .seconds(4))
        cache.insert(2, for: 1, cost: 1, timeToLive: .seconds(5))
        clock.advance(by: .seconds(4))
        #expect(cache.value(for: 1) == 2)
        cache.insert(3, for: 1, cost: 1)
        clock.advance(by: .seconds(1000))
        #expect(cache.value(for: 1) == 3)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)]) func `a value whose time is over is refused`(time: Duration) {
        cache.insert(1, for: 1, cost: 1)
        #expect(!cache.insert(2, for: 1, cost: 1, timeToLive: time))
        #expect(cache.value(for: 1) == nil && cache.statistics.refusals == 1)
    }

    @Test func `a time beyond all reckoning does not end`() {
        #expect(cache.insert(1, for: 1, cost: 1, timeToLive: .seconds(Int64.max)))
        clock.advance(by: .seconds(1 << 40))
        #expect(cache.insert(2, for: 2, cost: 1, timeToLive: .seconds(Int64.max)))
        #expect(cache.value(for: 1) == nil || cache.value(for: 1) == 1)
        #expect(cache.count <= 2)
    }

    @Test func `a removed value's time does not end another's`() {
        for number in 0..<5 { cache.insert(number, for: number, cost: 1, timeToLive: .seconds(5)) }
        for number in 0..<5 { cache.removeValue(for: number) }
        for number in 5..<10 { cache.insert(number, for: number, cost: 1) }
        clock.advance(by: .seconds(10))
        #expect((5..<10).allSatisfy { cache.value(for: $0) == $0 })
    }
}
