import GannetTestKit

/// Random numbers that follow from a seed.
struct SeededNumbers: RandomNumberGenerator {
    private var bytes: SeededBytes

    init(seed: UInt64) { bytes = SeededBytes(seed: seed) }

    mutating func next() -> UInt64 { bytes.next() }
}
