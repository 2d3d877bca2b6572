import Foundation

/// Which courses a test runs, by the variables of the environment.
package struct FuzzSettings {
    package let seeds: [UInt64]
    /// The seeds among these that another run would not have.
    package let random: [UInt64]

    package static let steps = number("STEPS").map(Int.init)

    /// - Parameters:
    ///   - always: Seeds that are run every time.
    ///   - count: How many new seeds are run besides.
    ///   - cost: How many courses one course counts as, where a number of courses is asked for.
    package init(always: [UInt64], random count: Int, cost: Int = 1) {
        let asked = Self.number("SEEDS").map { max(1, Int($0) / cost) }
        if let seed = Self.number("SEED") {
            (seeds, random) = ((0..<(asked ?? 1)).map { seed &+ UInt64($0) }, [])
            return
        }
        random = (0..<(asked ?? count)).map { _ in .random(in: .min ... .max) }
        seeds = (asked == nil ? always : []) + random
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["GANNET_FUZZ_\(name)"].flatMap { UInt64($0) }
    }
}
