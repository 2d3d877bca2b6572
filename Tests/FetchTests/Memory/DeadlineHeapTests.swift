import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(3))) struct DeadlineHeapTests {
    @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2]) func `the earliest deadline is always first`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var heap = DeadlineHeap()
        var entries = ContiguousArray(repeating: Entry(hash: 0, cost: 0, isMain: false, hits: 0), count: 100)
        var deadlines: [EntryNumber: Int64] = [:]
        for step in 0..<20_000 {
            let number = EntryNumber.random(in: 0..<100, using: &random)
            if deadlines[number] == nil {
                let deadline = Int64.random(in: 0..<50, using: &random)
                heap.add(number, deadline, in: &entries)
                deadlines[number] = deadline
            } else {
                heap.remove(number, in: &entries)
                deadlines[number] = nil
            }
            let earliest = deadlines.values.min()
            let at: Comment = "seed \(seed), step \(step)"
            #expect(heap.firstExpired(at: .max).flatMap { deadlines[$0] } == earliest, at)
            if let earliest {
                #expect(heap.firstExpired(at: earliest) != nil && heap.firstExpired(at: earliest - 1) == nil, at)
            }
            let other = EntryNumber.random(in: 0..<100, using: &random)
            if let deadline = deadlines[other] { #expect(heap[entries[Int(other)].deadline] == deadline, at) }
        }
    }
}
