import GannetTestKit

/// One thing that happens in a course. Its own numbers decide to which worker or job it happens, when its turn comes. So it stays the same
/// kind of thing when operations before it are left out.
struct Operation {
    enum Kind: CaseIterable {
        case clock, enqueue, claim, settle, renew, move, acquire, again, death, cancel, pause, resume, rule, reclaim, beat, crash, sweep
    }
    let kind: Kind
    let seed: UInt64

    /// The first `count` operations of a seed. On request there are crashes of the server among them, or calls of an operator who looks
    /// after the queues.
    static func course(
        seed: UInt64, _ climate: ModelClimate, count: Int, crashes: Bool = false, sweeps: Bool = false
    ) -> [Operation] {
        var random = SeededBytes(seed: seed)
        let weights = (climate.isDeadly ? deadly : usual) + (crashes ? [(.crash, 3)] : []) + (sweeps ? [(.sweep, 12)] : [])
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
        (.clock, 26), (.enqueue, 14), (.claim, 24), (.settle, 28), (.renew, 5), (.move, 6), (.acquire, 8), (.again, 8), (.death, 3),
        (.cancel, 1),
        (.pause, 1), (.resume, 2), (.rule, 1), (.reclaim, 1),
        (.beat, 2),
    ]

    /// With these weights, callers meet what dead workers left behind before another worker comes.
    private static let deadly: [(Kind, Int)] = [
        (.clock, 30), (.enqueue, 8), (.claim, 12), (.settle, 18), (.renew, 3), (.move, 4), (.acquire, 20), (.again, 6), (.death, 10),
        (.cancel, 1),
        (.resume, 2),
    ]
}

/// Numbers drawn from a seed.
struct Draw {
    private var random: SeededBytes

    init(_ seed: UInt64) { random = SeededBytes(seed: seed) }

    mutating func number() -> UInt64 { random.next() }
    mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func one<Element>(of choices: [Element]) -> Element { choices[below(choices.count)] }
}
