import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(3))) struct GhostTableTests {
    /// Spread as a hasher's are.
    private func hash(_ number: Int) -> Int {
        var numbers = SeededNumbers(seed: UInt64(number))
        return Int(truncatingIfNeeded: numbers.next())
    }

    @Test func `a hash is remembered once, with its age, until as many as the limit came after it`() {
        var table = GhostTable()
        #expect(table.remove(hash(0), limit: 3) == nil)
        for number in 0..<4 { table.add(hash(number), limit: 3) }
        #expect(table.remove(hash(9), limit: 3) == nil)
        #expect(table.remove(hash(0), limit: 3) == nil)
        #expect(table.remove(hash(1), limit: 3) == 3)
        #expect(table.remove(hash(1), limit: 3) == nil)
        #expect(table.remove(hash(3), limit: 3) == 1)
    }

    @Test func `an entry that returns is young again`() {
        var table = GhostTable()
        for number in [1, 2, 1, 3] { table.add(hash(number), limit: 10) }
        #expect(table.remove(hash(1), limit: 10) == 2)
    }

    @Test func `with a limit of zero no hash is remembered`() {
        var table = GhostTable()
        table.add(hash(1), limit: 0)
        #expect(table.remove(hash(1), limit: 0) == nil)
        #expect(table.remove(0, limit: 0) == nil)
    }

    @Test func `nearly all are remembered up to the limit, also after it grew`() {
        var table = GhostTable()
        for number in 0..<100 { table.add(hash(number), limit: 100) }
        for number in 100..<10_000 { table.add(hash(number), limit: 10_000) }
        #expect(table.marks.count < 20_000)
        #expect((0..<10_000).count { table.remove(hash($0), limit: 10_000) != nil } > 9_700)
        #expect((10_000..<20_000).count { table.remove(hash($0), limit: 10_000) != nil } < 10)
    }

    @Test func `however many come, it does not grow beyond its limit`() {
        var table = GhostTable()
        for number in 0..<100_000 { table.add(hash(number), limit: 1000) }
        #expect(table.marks.count <= 2048)
        #expect((0..<98_000).count { table.remove(hash($0), limit: 1000) != nil } < 10)
    }
}
