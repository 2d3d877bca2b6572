import GannetFetch
import Testing

@Suite(.timeLimit(.minutes(2))) struct MemoryCacheModelTests {
    /// The last value of each key that was not taken out; the cache may hold any part of them.
    private typealias Model = [Int: (value: Int, cost: Int, end: Duration?)]

    @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2, 3])
    func `through random operations, the limits hold and a value is the last that was inserted`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for round in 0..<30 {
            let options = MemoryCacheOptions(
                costLimit: Int.random(in: 1...1000, using: &random), countLimit: Int.random(in: 1...100, using: &random),
                largestCost: Bool.random(using: &random) ? nil : Int.random(in: -1...1200, using: &random))
            let largest = min(options.largestCost ?? max(options.costLimit / 8, 1), options.costLimit)
            let clock = ManualClock()
            let start = clock.now
            let cache = MemoryCache<Int, Int>(options, clock: clock)
            var model: Model = [:]
            for step in 0..<3000 {
                let key = Int.random(in: 0..<200, using: &random)
                let at: Comment = "seed \(seed), round \(round), step \(step)"
                let time = start.duration(to: clock.now)
                switch Int.random(in: 0..<100, using: &random) {
                case ..<40:
                    let cost = Int.random(in: -1...max(3, options.costLimit / 4), using: &random)
                    let seconds = Int.random(in: 0..<80, using: &random)
                    let life: Duration? = seconds <= 20 ? .seconds(seconds) : nil
                    let isAccepted = cost >= 0 && cost <= largest && life != .zero
                    #expect(cache.insert(step, for: key, cost: cost, timeToLive: life) == isAccepted, at)
                    model[key] = isAccepted ? (step, cost, life.map { time + $0 }) : nil
                    #expect(!isAccepted || cache.contains(key), at)
                case ..<80:
                    if let value = cache.value(for: key) {
                        #expect(value == model[key]?.value, at)
                        #expect(model[key]?.end.map { $0 > time } ?? true, at)
                    }
                case ..<88:
                    if let value = cache.removeValue(for: key) { #expect(value == model[key]?.value, at) }
                    model[key] = nil
                    #expect(!cache.contains(key), at)
                case ..<94: clock.advance(by: .seconds(Int.random(in: 0...3, using: &random)))
                case ..<97:
                    let limit = Int.random(in: -1...options.costLimit, using: &random)
                    cache.trim(toCost: limit)
                    #expect(cache.totalCost <= max(limit, 0), at)
                case ..<99:
                    cache.removeAll { $0 % 7 == key % 7 }
                    model = model.filter { $0.key % 7 != key % 7 }
                default:
                    cache.removeAll()
                    model = [:]
                    #expect(cache.count == 0 && cache.totalCost == 0, at)
                }
                #expect(cache.count <= options.countLimit && cache.totalCost <= options.costLimit, at)
            }
            // The entries can be counted when none has expired.
            for key in model.filter({ $0.value.end != nil }).keys {
                cache.removeValue(for: key)
                model[key] = nil
            }
            let present = model.filter { cache.contains($0.key) }
            #expect(cache.count == present.count, "seed \(seed), round \(round)")
            #expect(cache.totalCost == present.values.map(\.cost).reduce(0, +), "seed \(seed), round \(round)")
        }
    }
}
