import GannetBase
import GannetFetch
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(3))) struct MemoryCacheSharingTests {
    @Test func `many tasks at once never see a wrong value or limits exceeded`() async {
        let cache = MemoryCache<Int, [Int]>(.init(costLimit: 2000, countLimit: 300, largestCost: 500))
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededNumbers(seed: UInt64(task))
                    for step in 0..<5000 {
                        let key = Int.random(in: 0..<1000, using: &random)
                        switch step % 8 {
                        case 0: cache.removeValue(for: key)
                        case 1, 2: cache.insert([key, step], for: key, cost: key % 20, timeToLive: key % 3 == 0 ? .microseconds(50) : nil)
                        case 3 where step % 500 == 3: cache.removeAll { $0 == key }
                        case 4 where step % 500 == 4: cache.trim(toCost: 1000)
                        case 5 where step % 2500 == 5: cache.removeAll()
                        default:
                            if let value = cache.value(for: key) {
                                #expect(value.first == key)
                            } else {
                                cache.insert([key], for: key, cost: key % 20)
                            }
                        }
                        #expect(cache.totalCost <= 2000 && cache.count <= 300)
                    }
                }
            }
        }
        let statistics = cache.statistics
        #expect(statistics.hits > 0 && statistics.insertions > 0)
    }

    @Test func `a value may call the cache when it is freed`() {
        let cache = MemoryCache<Int, DeinitProbe>(.init(costLimit: 10, countLimit: 10, largestCost: 10))
        let freed = Mutex<[Int]>([])
        for number in 0..<100 {
            let probe = DeinitProbe { [weak cache] in
                // Whatever freed it, the lock is open and the limits hold.
                guard let cache else { return }
                let isWithin = cache.totalCost <= 10 && cache.count <= 10
                cache.removeValue(for: 1000)
                freed.withLock { $0.append(isWithin ? number : -1) }
            }
            cache.insert(probe, for: number % 50, cost: number % 3)
        }
        cache.insert(DeinitProbe {}, for: 3, cost: 10)
        cache.trim(toCost: 0)
        cache.removeAll()
        #expect(freed.withLock { $0.sorted() } == Array(0..<100))
    }

    @Test func `a value may put another one in when it is replaced, removed, expired or refused`() {
        let clock = ManualClock()
        let cache = MemoryCache<Int, DeinitProbe>(.init(costLimit: 10, largestCost: 5), clock: clock)
        func put(_ key: Int, timeToLive: Duration? = nil) {
            let probe = DeinitProbe { [weak cache] in cache?.insert(DeinitProbe {}, for: key + 1, cost: 1) }
            cache.insert(probe, for: key, cost: 1, timeToLive: timeToLive)
        }
        put(10)
        cache.insert(DeinitProbe {}, for: 10, cost: 1)
        #expect(cache.contains(11))
        put(20)
        cache.removeValue(for: 20)
        #expect(cache.contains(21))
        put(30, timeToLive: .seconds(1))
        clock.advance(by: .seconds(1))
        #expect(cache.value(for: 30) == nil && cache.contains(31))
        put(40)
        cache.insert(DeinitProbe {}, for: 40, cost: 6)
        #expect(!cache.contains(40) && cache.contains(41))
        put(50)
        cache.removeAll()
        #expect(cache.contains(51))
    }

    @Test func `a key may call the cache when it is freed`() {
        let cache = MemoryCache<ProbedKey, Int>(.init(costLimit: 10, largestCost: 10))
        let calls = Atomic(0)
        for number in 0..<100 {
            let probe = DeinitProbe { [weak cache] in
                _ = cache?.count
                calls.wrappingAdd(1, ordering: .relaxed)
            }
            cache.insert(number, for: ProbedKey(number: number % 40, probe: probe), cost: 1)
        }
        cache.removeAll()
        #expect(calls.load(ordering: .relaxed) == 100)
    }

    private struct ProbedKey: Hashable, Sendable {
        let number: Int
        let probe: DeinitProbe

        static func == (left: Self, right: Self) -> Bool { left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    @Test func `keys with the same hash are told apart`() {
        struct Key: Hashable, Sendable {
            let number: Int
            func hash(into hasher: inout Hasher) {}
        }
        let cache = MemoryCache<Key, Int>(.init(costLimit: 100))
        for number in 0..<300 { cache.insert(number, for: Key(number: number), cost: 1) }
        #expect(cache.count == 100)
        for number in 0..<300 { #expect(cache.value(for: Key(number: number)).map { $0 == number } ?? true) }
        cache.removeAll { $0.number % 2 == 0 }
        #expect((0..<300).allSatisfy { cache.value(for: Key(number: $0)) == nil || $0 % 2 == 1 })
    }
}
