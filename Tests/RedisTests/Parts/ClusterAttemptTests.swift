import Testing

@testable import GannetRedisClient

@Suite struct ClusterAttemptTests {
    private static let now = ContinuousClock.now
    private static let other = RedisAddress.tcp(host: "b", port: 2, tls: false)

    private static func step(
        _ attempt: inout ClusterAttempt, _ kind: RedisError.Kind, executed: Bool = false, at now: ContinuousClock.Instant = Self.now
    ) -> ClusterAttempt.Step {
        let error = RedisError(kind, "5 b:2", mayHaveExecuted: executed)
        return attempt.step(after: error, Redirection(error, from: .tcp(host: "a", port: 1, tls: false)), now: now)
    }

    @Test func `a redirected command goes on at once, and with pauses when nodes disagree`() {
        var attempt = ClusterAttempt(deadline: Self.now + .seconds(10))
        #expect(Self.step(&attempt, .moved) == .toOwner)
        #expect(Self.step(&attempt, .ask) == .ask(Self.other))
        for _ in 0..<3 { #expect(Self.step(&attempt, .moved) == .toOwner) }
        #expect(Self.step(&attempt, .moved) == .pause(.milliseconds(20)))
        #expect(Self.step(&attempt, .moved) == .toOwner)
    }

    @Test func `a slot that moves or has no server is waited for, until the deadline`() {
        var attempt = ClusterAttempt(deadline: Self.now + .seconds(10))
        var pauses: [Duration] = []
        for kind in [RedisError.Kind.tryAgain, .clusterDown, .tryAgain, .closed, .connectionLost, .tryAgain, .tryAgain] {
            guard case .pause(let pause) = Self.step(&attempt, kind) else {
                Issue.record("no pause after \(kind)")
                return
            }
            pauses.append(pause)
        }
        #expect(pauses == [20, 40, 80, 160, 320, 500, 500].map { .milliseconds($0) })
        guard case .fail(let error) = Self.step(&attempt, .tryAgain, at: Self.now + .milliseconds(9600)) else {
            Issue.record("it goes on behind the deadline")
            return
        }
        #expect(error.kind == .tryAgain)
    }

    @Test func `a command that may have been carried out is not repeated, and other errors are the caller's`() {
        var attempt = ClusterAttempt(deadline: Self.now + .seconds(10))
        for (kind, executed) in [(RedisError.Kind.connectionLost, true), (.closed, true), (.wrongType, false), (.commandTimeout, true)] {
            guard case .fail(let error) = Self.step(&attempt, kind, executed: executed) else {
                Issue.record("\(kind)")
                continue
            }
            #expect(error.kind == kind)
        }
    }
}
