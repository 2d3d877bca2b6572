import Testing

@testable import GannetFetch

@Suite(.timeLimit(.minutes(1))) struct EntryIndexTests {
    @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2], [1 << 3, 1 << 8, 1 << 40])
    func `it does what a dictionary does, with any hashes`(seed: UInt64, hashes: Int) {
        var random = SeededNumbers(seed: seed)
        var index = EntryIndex()
        // The hash of each number in the index.
        var entries: [EntryNumber: Int] = [:]
        for step in 0..<20_000 {
            // It grows, then shrinks.
            let number = EntryNumber.random(in: 0..<500, using: &random)
            if entries[number] == nil, Int.random(in: 0..<20_000, using: &random) > step / 2 {
                // Mistakes show at the ends of the table.
                entries[number] = Int.random(in: 0..<hashes, using: &random) &- hashes / 2
                index.add(number, hash: entries[number]!)
            } else if let hash = entries.removeValue(forKey: number) {
                index.remove(number, hash: hash)
            }
            let wanted = EntryNumber.random(in: 0..<500, using: &random)
            let hash = entries[wanted] ?? Int.random(in: 0..<hashes, using: &random)
            let found = index.find(hash) { $0 == wanted }
            #expect(found == (entries[wanted] == nil ? nil : wanted), "seed \(seed), step \(step)")
        }
        for (number, hash) in entries { #expect(index.find(hash) { $0 == number } == number, "seed \(seed)") }
    }
}
