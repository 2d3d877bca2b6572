import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(1))) struct SmallShareTests {
    private var share = SmallShare(costLimit: 1000, countLimit: 1_000_000)

    @Test mutating func `a return moves it by the size of what returned, and the later by less`() {
        share.grow(by: 100, age: 1, entries: 100)
        #expect(abs(share.value - 0.2) < 1e-9)
        share.shrink(by: 50, age: 2, entries: 100)
        #expect(abs(share.value - 0.15) < 1e-9)
        share.grow(by: 100, age: 20, entries: 100)
        #expect(abs(share.value - 0.151) < 1e-9)
    }

    @Test mutating func `it stays between a hundredth and a half`() {
        for _ in 0..<10 { share.grow(by: 1000, age: 1, entries: 0) }
        #expect(share.value == 0.5)
        for _ in 0..<10 { share.shrink(by: 1000, age: 1, entries: 0) }
        #expect(share.value == 0.01)
    }

    @Test mutating func `entries without cost move the share by their number`() {
        share = SmallShare(costLimit: 1000, countLimit: 100)
        share.grow(by: 0, age: 1, entries: 100)
        #expect(abs(share.value - 0.11) < 1e-9)
    }

    @Test mutating func `either limit may be what it is a share of`() {
        var entries: ContiguousArray = [LedgerEntry(hash: 0, cost: 60, place: .small), LedgerEntry(hash: 1, cost: 60, place: .small)]
        var queue = EntryQueue()
        queue.append(0, in: &entries)
        #expect(!share.isExceeded(by: queue))
        #expect(SmallShare(costLimit: 1000, countLimit: 9).isExceeded(by: queue))
        queue.append(1, in: &entries)
        #expect(share.isExceeded(by: queue))
    }
}
