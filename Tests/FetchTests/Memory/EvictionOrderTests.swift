import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(3))) struct EvictionOrderTests {
    /// An order whose entries are known by their hashes.
    private struct Fixture {
        var order: EvictionOrder
        var hashes: [EntryNumber: Int] = [:]
        var evicted: [Int] = []

        init(costLimit: Int = 100, countLimit: Int = .max) { order = EvictionOrder(costLimit: costLimit, countLimit: countLimit) }

        mutating func add(_ hash: Int, cost: Int = 1) {
            while let number = order.makeRoom(for: cost, at: 0) {
                if let hash = hashes.removeValue(forKey: number) { evicted.append(hash) }
            }
            hashes[order.add(hash: hash, cost: cost, deadline: nil, replacing: nil)] = hash
        }

        mutating func hit(_ hash: Int, times: Int = 1) {
            for _ in 0..<times { if let number = find(hash) { order.noteHit(number) } }
        }

        func find(_ hash: Int) -> EntryNumber? { order.find(hash) { hashes[$0] == hash } }

        func isInMain(_ hash: Int) -> Bool? { find(hash).map { order.entries[Int($0)].isMain } }
    }

    /// A hash that differs from others in both halves.
    private func hash(_ number: Int) -> Int { number << 32 | number }

    @Test func `a new entry begins in the small queue once the cache has been full`() {
        var fixture = Fixture()
        for number in 1...100 { fixture.add(hash(number)) }
        // Until then, entries beyond the small queue's share went to the main queue.
        #expect(fixture.order.small.count == 11 && fixture.order.main.count == 89)
        for number in 101...105 { fixture.add(hash(number)) }
        #expect((101...105).allSatisfy { fixture.isInMain(hash($0)) == false })
        #expect(fixture.evicted == (1...5).map(hash))
    }

    @Test func `one hit in the small queue leads to the main queue, where it has to prove itself again`() {
        var fixture = Fixture()
        for number in 1...100 { fixture.add(hash(number)) }
        fixture.hit(hash(1), times: 5)
        for number in 101...103 { fixture.add(hash(number)) }
        #expect(fixture.isInMain(hash(1)) == true && fixture.isInMain(hash(2)) == nil)
        #expect(fixture.order.entries.count == 100)
        #expect(fixture.find(hash(1)).map { fixture.order.entries[Int($0)].hits } == 0)
    }

    @Test func `an entry that comes back after it left the small queue goes to the main queue, and a large one to the small`() {
        var fixture = Fixture()
        for number in 1...100 { fixture.add(hash(number)) }
        for number in 101...110 { fixture.add(hash(number)) }
        #expect(fixture.isInMain(hash(1)) == nil)
        fixture.add(hash(1))
        #expect(fixture.isInMain(hash(1)) == true)
        fixture.add(hash(2), cost: 9)
        #expect(fixture.isInMain(hash(2)) == false)
    }

    @Test func `the small queue grows when an entry returns that has just left it, and shrinks when one of the main queue returns`() {
        var fixture = Fixture()
        for number in 1...101 { fixture.add(hash(number)) }
        #expect(fixture.evicted == [hash(1)])
        fixture.add(hash(1))
        #expect(abs(fixture.order.share - 0.11) < 0.001)
        // The small queue is within its share now, so the first entry of the main queue has to go.
        fixture.add(hash(200))
        #expect(fixture.evicted.last == hash(12) && fixture.order.share > 0.1)
        fixture.add(hash(12))
        #expect(abs(fixture.order.share - 0.1) < 0.001)
    }

    @Test func `no eviction spares more than a few entries`() {
        var fixture = Fixture(costLimit: 1000)
        for number in 1...1000 {
            fixture.add(hash(number))
            fixture.hit(hash(number), times: 3)
        }
        // All entries were asked for: some are spared, and the next one goes.
        fixture.add(hash(1001))
        #expect(fixture.evicted.count == 1 && fixture.order.count == 1000)
        #expect(fixture.order.entries.count { $0.hits < 3 } < 270)
    }

    @Test func `numbers of entries are used again`() {
        var fixture = Fixture(costLimit: .max, countLimit: 10)
        for number in 1...1000 { fixture.add(hash(number), cost: number) }
        #expect(fixture.order.entries.count == 10 && fixture.order.count == 10)
    }

    @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2], [1 << 3, 1 << 8, 1 << 40, .max])
    func `an entry is found by its hash, whatever the hashes are`(seed: UInt64, hashes: Int) {
        var random = SeededNumbers(seed: seed)
        var order = EvictionOrder(costLimit: .max, countLimit: .max)
        // The key of each number, and the hash of each key.
        var keys: [EntryNumber: Int] = [:]
        var known: [Int: Int] = [:]
        for step in 0..<20_000 {
            // It grows, then shrinks.
            let key = Int.random(in: 0..<500, using: &random)
            if known[key] == nil, Int.random(in: 0..<20_000, using: &random) > step / 2 {
                // Mistakes show at the ends of the table.
                let hash = Int.random(in: 0..<hashes, using: &random) &- hashes / 2
                known[key] = hash
                keys[order.add(hash: hash, cost: 1, deadline: nil, replacing: nil)] = key
            } else if let hash = known.removeValue(forKey: key), let number = order.find(hash, where: { keys[$0] == key }) {
                order.remove(number)
                keys[number] = nil
            }
            let wanted = Int.random(in: 0..<500, using: &random)
            let hash = known[wanted] ?? Int.random(in: 0..<hashes, using: &random)
            let found = order.find(hash) { keys[$0] == wanted }
            #expect(found.flatMap { keys[$0] } == (known[wanted] == nil ? nil : wanted), "seed \(seed), step \(step)")
            #expect(order.count == known.count && keys.count == known.count, "seed \(seed), step \(step)")
        }
    }

    /// An order with entries that cost nothing.
    private func order(entries: Int, costLimit: Int = 1000, countLimit: Int = 1_000_000) -> EvictionOrder {
        var order = EvictionOrder(costLimit: costLimit, countLimit: countLimit)
        for number in 0..<entries { _ = order.add(hash: hash(number), cost: 0, deadline: nil, replacing: nil) }
        return order
    }

    @Test func `a return moves the small queue's share by the size of what returned, and the later by less`() {
        var order = order(entries: 100)
        order.moveShare(1, by: 100, age: 1)
        #expect(abs(order.share - 0.2) < 1e-9)
        order.moveShare(-1, by: 50, age: 2)
        #expect(abs(order.share - 0.15) < 1e-9)
        order.moveShare(1, by: 100, age: 20)
        #expect(abs(order.share - 0.151) < 1e-9)
    }

    @Test func `the small queue's share stays between a hundredth and a half`() {
        var order = order(entries: 0)
        for _ in 0..<10 { order.moveShare(1, by: 1000, age: 1) }
        #expect(order.share == 0.5)
        for _ in 0..<10 { order.moveShare(-1, by: 1000, age: 1) }
        #expect(order.share == 0.01)
    }

    @Test func `entries without cost move the small queue's share by their number`() {
        var order = order(entries: 100, countLimit: 100)
        order.moveShare(1, by: 0, age: 1)
        #expect(abs(order.share - 0.11) < 1e-9)
    }

    @Test func `either limit may be what the small queue has a share of`() {
        var order = EvictionOrder(costLimit: 1000, countLimit: .max)
        _ = order.add(hash: 0, cost: 60, deadline: nil, replacing: nil)
        #expect(!order.isSmallFull)
        _ = order.add(hash: 1, cost: 60, deadline: nil, replacing: nil)
        #expect(order.isSmallFull)
        #expect(self.order(entries: 1, countLimit: 9).isSmallFull)
        #expect(!self.order(entries: 1, countLimit: 11).isSmallFull)
    }
}
