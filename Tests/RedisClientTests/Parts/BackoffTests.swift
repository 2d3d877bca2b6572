import Testing

@testable import RedisClient

@Suite(.timeLimit(.minutes(1))) struct BackoffTests {
    private let backoff = Backoff(shortest: .milliseconds(50), longest: .seconds(5))

    @Test(arguments: [(0, 50), (1, 100), (2, 200), (6, 3200), (7, 5000), (30, 5000), (1_000_000, 5000), (-1, 50)])
    func `pauses lie anywhere below a bound that doubles and then stays`(failures: Int, milliseconds: Int) {
        var random = SeededGenerator(seed: 7)
        let bound = Duration.milliseconds(milliseconds)
        let pauses = (0..<1000).map { _ in backoff.pause(afterFailures: failures, using: &random) }
        #expect(pauses.allSatisfy { $0 >= .zero && $0 <= bound })
        #expect(pauses.min()! < bound * 0.1)
        #expect(pauses.max()! > bound * 0.9)
    }
}
