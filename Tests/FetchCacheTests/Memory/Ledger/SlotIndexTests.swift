import Testing

@testable import FetchCache

@Suite(.timeLimit(.minutes(1))) struct SlotIndexTests {
    @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2], [1 << 3, 1 << 8, 1 << 40])
    func `it does what a dictionary does, whatever the hashes`(seed: UInt64, hashes: Int) {
        var random = SeededNumbers(seed: seed)
        var index = SlotIndex()
        // The hash of each slot that is there.
        var slots: [SlotNumber: Int] = [:]
        for step in 0..<20_000 {
            // It grows, then shrinks.
            let slot = SlotNumber.random(in: 0..<500, using: &random)
            if slots[slot] == nil, Int.random(in: 0..<20_000, using: &random) > step / 2 {
                // The ends of the table are where things go wrong.
                slots[slot] = Int.random(in: 0..<hashes, using: &random) &- hashes / 2
                index.add(slot, hash: slots[slot]!)
            } else if let hash = slots.removeValue(forKey: slot) {
                index.remove(slot, hash: hash)
            }
            let wanted = SlotNumber.random(in: 0..<500, using: &random)
            let hash = slots[wanted] ?? Int.random(in: 0..<hashes, using: &random)
            let found = index.find(hash) { $0 == wanted }
            #expect(found == (slots[wanted] == nil ? nil : wanted), "seed \(seed), step \(step)")
        }
        for (slot, hash) in slots { #expect(index.find(hash) { $0 == slot } == slot, "seed \(seed)") }
    }
}
