/// Numbers drawn from a seed.
package struct Draw {
    private var random: SeededBytes

    package init(_ seed: UInt64) { random = SeededBytes(seed: seed) }

    package mutating func number() -> UInt64 { random.next() }
    package mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    package mutating func one<Element>(of choices: [Element]) -> Element { choices[below(choices.count)] }
    package mutating func one<Element>(of choices: [(Element, Int)]) -> Element {
        var place = below(choices.reduce(0) { $0 + $1.1 })
        return choices.first {
            place -= $0.1
            return place < 0
        }!.0
    }
}
