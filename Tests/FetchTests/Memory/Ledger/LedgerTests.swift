import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(1))) struct LedgerTests {
    /// A ledger whose entries are known by their hashes.
    private struct Fixture {
        var ledger: Ledger
        var hashes: [EntryNumber: Int] = [:]
        var evicted: [Int] = []

        init(costLimit: Int = 100, countLimit: Int = .max) { ledger = Ledger(costLimit: costLimit, countLimit: countLimit) }

        mutating func add(_ hash: Int, cost: Int = 1) {
            let hashes = hashes
            var left: [EntryNumber] = []
            let added = ledger.insert(
                hash: hash, cost: cost, deadline: nil, at: 0, where: { hashes[$0] == hash }, leave: { left.append($0) })
            for number in left { if let hash = self.hashes.removeValue(forKey: number) { evicted.append(hash) } }
            self.hashes[added] = hash
        }

        mutating func hit(_ hash: Int, times: Int = 1) {
            let hashes = hashes
            for _ in 0..<times { _ = ledger.lookUp(hash, at: 0) { hashes[$0] == hash } }
        }

        func place(_ hash: Int) -> LedgerEntry.Place? { hashes.first { $0.value == hash }.map { ledger.entries[Int($0.key)].place } }
    }

    /// A hash that differs from others in both halves.
    private func hash(_ number: Int) -> Int { number << 32 | number }

    @Test func `a new entry begins in the small queue once the cache has been full`() {
        var fixture = Fixture()
        for number in 1...100 { fixture.add(hash(number)) }
        // Until then, entries beyond the small queue's share went to the main queue.
        #expect(fixture.ledger.small.count == 11 && fixture.ledger.main.count == 89)
        for number in 101...105 { fixture.add(hash(number)) }
        #expect((101...105).allSatisfy { fixture.place(hash($0)) == .small })
        #expect(fixture.evicted == (1...5).map(hash))
    }

    @Test func `one hit in the small queue leads to the main queue, where it has to prove itself again`() {
        var fixture = Fixture()
        for number in 1...100 { fixture.add(hash(number)) }
        fixture.hit(hash(1), times: 5)
        for number in 101...103 { fixture.add(hash(number)) }
        #expect(fixture.place(hash(1)) == .main && fixture.place(hash(2)) == nil)
        #expect(fixture.ledger.entries.count == 100)
        #expect(fixture.hashes.first { $0.value == hash(1) }.map { fixture.ledger.entries[Int($0.key)].hits } == 0)
    }

    @Test func `an entry that comes back after it left the small queue goes to the main queue, and a large one to the small`() {
        var fixture = Fixture()
        for number in 1...100 { fixture.add(hash(number)) }
        for number in 101...110 { fixture.add(hash(number)) }
        #expect(fixture.place(hash(1)) == nil)
        fixture.add(hash(1))
        #expect(fixture.place(hash(1)) == .main)
        fixture.add(hash(2), cost: 9)
        #expect(fixture.place(hash(2)) == .small)
    }

    @Test func `the small queue grows when an entry returns that has just left it, and shrinks when one of the main queue returns`() {
        var fixture = Fixture()
        for number in 1...101 { fixture.add(hash(number)) }
        #expect(fixture.evicted == [hash(1)])
        fixture.add(hash(1))
        #expect(abs(fixture.ledger.share.value - 0.11) < 0.001)
        // The small queue is within its share now, so the first entry of the main queue has to go.
        fixture.add(hash(200))
        #expect(fixture.evicted.last == hash(12) && fixture.ledger.share.value > 0.1)
        fixture.add(hash(12))
        #expect(abs(fixture.ledger.share.value - 0.1) < 0.001)
    }

    @Test func `no eviction spares more than a few entries`() {
        var fixture = Fixture(costLimit: 1000)
        for number in 1...1000 {
            fixture.add(hash(number))
            fixture.hit(hash(number), times: 3)
        }
        // All entries were asked for: some are spared, and the next one goes.
        fixture.add(hash(1001))
        #expect(fixture.evicted.count == 1 && fixture.ledger.count == 1000)
        #expect(fixture.ledger.entries.count { $0.hits < 3 } < 270)
    }

    @Test func `numbers of entries are used again`() {
        var fixture = Fixture(costLimit: .max, countLimit: 10)
        for number in 1...1000 { fixture.add(hash(number), cost: number) }
        #expect(fixture.ledger.entries.count == 10 && fixture.ledger.count == 10)
    }
}
