import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite struct SpeedTurnsTests {
    private let start = ContinuousClock.now
    private let piece = SpeedAllowance.piece

    /// At a piece a second.
    private func turns() -> SpeedLimit { SpeedLimit(bytesPerSecond: piece, at: start) }

    /// From each to the next is a bit more than the time of a piece.
    private func second(_ number: Int) -> ContinuousClock.Instant { start + .milliseconds(1001) * number }

    @Test func `a transfer that is alone goes on as soon as there is room, without a turn`() {
        let turns = turns()
        for number in 0..<5 { #expect(turns.admits(7, piece, at: second(number))) }
        #expect(turns.deadline == nil)
        #expect(turns.next(at: second(9)) == nil)
    }

    @Test func `the longest paused transfer goes on first, and nobody overtakes those that wait`() {
        let turns = turns()
        #expect(turns.admits(1, piece, at: second(0)))
        for id in [2, 3, 1] as [UInt64] { #expect(!turns.admits(id, piece, at: second(0))) }
        #expect(turns.next(at: second(0)) == nil)
        var order: [UInt64] = []
        for number in 1...6 {
            // There is room, but others have waited longer.
            #expect(!turns.admits(UInt64(100 + number), piece, at: second(number)))
            guard let id = turns.next(at: second(number)) else { break }
            order.append(id)
            #expect(turns.admits(id, piece, at: second(number)))
            if number <= 3 { #expect(!turns.admits(id, piece, at: second(number))) }
        }
        // The newcomer of each second stands before the one that had its turn in that second.
        #expect(order == [2, 3, 1, 101, 2, 102])
    }

    @Test func `no second transfer goes on before the first has taken its piece`() {
        let turns = turns()
        #expect(turns.admits(1, piece, at: second(0)))
        #expect(!turns.admits(1, piece, at: second(0)))
        #expect(!turns.admits(2, piece, at: second(0)))
        #expect(turns.next(at: second(1)) == 1)
        #expect(turns.next(at: second(1)) == nil)
        #expect(turns.deadline == nil)
        #expect(!turns.admits(3, piece, at: second(1)))
        #expect(turns.admits(1, piece, at: second(1)))
        #expect(turns.next(at: second(1)) == nil)
        #expect(turns.next(at: second(2)) == 2)
    }

    @Test func `a transfer that ends while it is paused, or before it has used its turn, holds nobody up`() {
        let turns = turns()
        #expect(turns.admits(1, piece, at: second(0)))
        for id in [1, 2, 3, 4] as [UInt64] { #expect(!turns.admits(id, piece, at: second(0))) }
        turns.forget(1)
        #expect(turns.next(at: second(1)) == 2)
        turns.forget(2)
        #expect(turns.next(at: second(1)) == 3)
        #expect(turns.admits(3, piece, at: second(1)))
        turns.forget(4)
        #expect(turns.deadline == nil)
        #expect(turns.admits(5, piece, at: second(2)))
    }

    @Test func `transfers that begin, pause and end at random get evenly what there is, and never more than the limit`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededBytes(seed: seed)
        for _ in 0..<50 {
            let turns = turns()
            var now = start
            var nextID: UInt64 = 0
            var going: Set<UInt64> = []
            var paused: [UInt64] = []
            var granted = 0
            for _ in 0..<500 {
                switch random.next() % 8 {
                case 0:
                    nextID += 1
                    going.insert(nextID)
                case 1:
                    guard let id = (Array(going) + paused).sorted().randomElement(using: &random) else { break }
                    going.remove(id)
                    paused.removeAll { $0 == id }
                    turns.forget(id)
                case 2, 3:
                    now = turns.deadline.map { max(now, $0) } ?? now + .milliseconds(300)
                    let next = turns.next(at: now)
                    #expect(next == paused.first, "seed \(seed)")
                    guard let next else { break }
                    paused.removeFirst()
                    granted += piece
                    #expect(turns.admits(next, piece, at: now), "seed \(seed)")
                    going.insert(next)
                default:
                    guard let id = going.sorted().randomElement(using: &random) else { break }
                    let isAdmitted = turns.admits(id, piece, at: now)
                    #expect(!isAdmitted || paused.isEmpty, "seed \(seed)")
                    if isAdmitted {
                        granted += piece
                    } else {
                        going.remove(id)
                        paused.append(id)
                    }
                }
                let most = Double(piece) * (1 + (now - start) / .seconds(1))
                guard Double(granted) > most else { continue }
                Issue.record("\(granted) bytes, and not \(most), seed \(seed)")
                return
            }
            #expect(granted > 20 * piece, "seed \(seed)")
        }
    }
}
