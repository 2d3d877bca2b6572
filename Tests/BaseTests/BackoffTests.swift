import GannetBase
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct BackoffTests {
    private let backoff = Backoff(first: .milliseconds(50), longest: .seconds(5))

    @Test(arguments: [(0, 50), (1, 100), (2, 200), (6, 3200), (7, 5000), (30, 5000), (1_000_000, 5000), (-1, 50)])
    func `pauses lie anywhere below a bound that doubles and then stays`(failures: Int, milliseconds: Int) {
        var random = SeededBytes(seed: 7)
        let bound = Duration.milliseconds(milliseconds)
        let pauses = (0..<1000).map { _ in backoff.randomPause(after: failures, using: &random) }
        #expect(pauses.allSatisfy { $0 >= .zero && $0 <= bound })
        #expect(pauses.min()! < bound * 0.1)
        #expect(pauses.max()! > bound * 0.9)
    }

    @Test func `a pause that is not left to chance is the bound itself, and a part of it never is`() {
        #expect((0..<8).map(backoff.pause(after:)) == [50, 100, 200, 400, 800, 1600, 3200, 5000].map { .milliseconds($0) })
        #expect(backoff.pause(after: 1, random: 0, atLeast: 0.5) == .milliseconds(50))
        #expect(backoff.pause(after: 1, random: 1, atLeast: 0.5) == .milliseconds(100))
        #expect(backoff.pause(after: 1, random: 7) == .milliseconds(100) && backoff.pause(after: 1, random: -7) == .zero)
    }

    @Test func `a first pause beyond the bound is the bound, and without growth pauses stay as they are`() {
        #expect(Backoff(first: .seconds(9), longest: .seconds(5)).pause(after: 0) == .seconds(5))
        #expect(Backoff(first: .seconds(1), longest: .seconds(5), factor: 1).pause(after: .max) == .seconds(1))
        #expect(Backoff(first: .zero, longest: .seconds(5)).pause(after: .max) == .zero)
    }
}
