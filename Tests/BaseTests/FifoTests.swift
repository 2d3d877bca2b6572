import GannetBase
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct FifoTests {
    @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2]) func `it does what a plain array does`(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        var fifo = Fifo<Int>()
        var array: [Int] = []
        for step in 0..<20_000 {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<50:
                fifo.append(step)
                array.append(step)
            case ..<90:
                #expect(fifo.popFirst() == (array.isEmpty ? nil : array.removeFirst()), "seed \(seed), step \(step)")
            case ..<94:
                guard !array.isEmpty else { continue }
                fifo.modifyFirst { $0 += 1 }
                array[0] += 1
            case ..<97:
                let put = Array(0..<Int.random(in: 0..<5, using: &random))
                fifo.prepend(put)
                array.insert(contentsOf: put, at: 0)
            case ..<99:
                fifo.filter { $0 % 3 != 0 }
                array.removeAll { $0 % 3 == 0 }
            default:
                if step % 7 == 0 { #expect(fifo.removeAll() == array, "seed \(seed)") } else { continue }
                array = []
            }
            #expect(fifo.count == array.count && fifo.isEmpty == array.isEmpty && fifo.first == array.first, "seed \(seed), step \(step)")
        }
        var seen: [Int] = []
        fifo.visit { seen.append($0) }
        #expect(seen == array, "seed \(seed)")
    }

    @Test func `memory of taken elements is freed`() {
        var fifo = Fifo<Int>()
        for number in 0..<100_000 {
            fifo.append(number)
            if number >= 10 { #expect(fifo.popFirst() == number - 10) }
        }
        #expect(fifo.count == 10)
        #expect(fifo.removeAll() == Array(99_990..<100_000))
    }
}
