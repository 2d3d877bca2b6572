import GannetTestKit

/// One thing that happens in a course. Its own numbers decide to which worker or job it happens, when its turn comes. So it stays the same
/// kind of thing when operations before it are left out.
struct Operation {
    enum Kind: CaseIterable {
        case clock, enqueue, exchange, again, move, acquire, callerEnds, death, forget, cancel, pause, resume, reclaim, crash
    }
    let kind: Kind
    let seed: UInt64

    /// The first `count` operations of a seed. On request there are crashes of the server among them.
    static func course(seed: UInt64, count: Int, crashes: Bool = false) -> [Operation] {
        var random = SeededBytes(seed: seed)
        let weights = (seed % 4 == 0 ? deadly : usual) + (crashes ? [(.crash, 3)] : [])
        return (0..<count).map { _ in
            var place = Int(random.next() % UInt64(weights.reduce(0) { $0 + $1.1 }))
            let kind = weights.first {
                place -= $0.1
                return place < 0
            }!.0
            return Operation(kind: kind, seed: random.next())
        }
    }

    private static let usual: [(Kind, Int)] = [
        (.clock, 24), (.enqueue, 12), (.exchange, 50), (.again, 5), (.move, 4), (.acquire, 6), (.callerEnds, 5), (.death, 2), (.forget, 1),
        (.cancel, 1), (.pause, 1), (.resume, 2), (.reclaim, 1),
    ]

    /// With these weights, workers die more often than jobs end.
    private static let deadly: [(Kind, Int)] = [
        (.clock, 30), (.enqueue, 8), (.exchange, 40), (.acquire, 12), (.callerEnds, 5), (.death, 14), (.cancel, 1), (.resume, 2),
    ]
}
