#if canImport(Glibc)
import Foundation

/// Which courses are run, as the environment says.
struct FuzzSettings {
    let seeds: [UInt64]
    /// Those among them that another run would not have.
    let random: [UInt64]
    let steps: Int

    /// Seeds of 500 steps that have found something, each with what that was.
    static let telling: [UInt64] = [
        14_480_108_462_562_374_527,  // A job was parked behind a retry that was dropped in the same look, and waited for ever.
        8_777_452_512_001_492_033,  // A host's pause was over when its rule was taken away, but only while no other host had one.
        9_503_873_521_562_171_305,  // The model: followers that find a retry at their URL go on with its own when it does not start.
    ]

    /// The one that is to be run again, in all tests.
    static var replayed: [UInt64]? { number("SEED").map { [$0] } }

    init() {
        steps = Int(Self.number("STEPS") ?? 500)
        if let replayed = Self.replayed {
            seeds = replayed
            random = []
            return
        }
        let count = Self.number("SEEDS")
        random = (0..<(count ?? 50)).map { _ in .random(in: .min ... .max) }
        seeds = (count == nil ? Array(1...150) + Self.telling : []) + random
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["GANNET_FUZZ_\(name)"].flatMap { UInt64($0) }
    }
}
#endif
