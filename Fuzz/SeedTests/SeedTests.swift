import GannetTestKit
import Testing

@testable import FuzzTargets

/// The targets of `make fuzz`, for a moment and without libFuzzer.
@Suite(.timeLimit(.minutes(2))) struct SeedTests {
    @Test(arguments: FuzzTarget.all)
    func `neither the seeds of a target nor inputs close to them break an invariant`(target: FuzzTarget) async throws {
        try await target.prepare()
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededBytes(seed: seed)
        for input in target.seeds() {
            try target.check(input)
            var neighbour = input
            for _ in 0..<3 where !neighbour.isEmpty {
                neighbour[Int(random.next() % UInt64(neighbour.count))] = UInt8(truncatingIfNeeded: random.next())
                do throws(BrokenInvariant) {
                    try target.check(neighbour)
                } catch {
                    Issue.record("seed \(seed): \(error.description): \(neighbour)")
                }
            }
        }
    }

    @Test func `an input that breaks an invariant is reported`() {
        #expect(throws: BrokenInvariant.self) { try require(false, "so it is") }
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    public var testDescription: String { name }
}
