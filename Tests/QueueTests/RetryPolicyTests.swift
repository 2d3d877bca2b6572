import Testing

@testable import GannetQueue

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy()

    private func pause(_ failures: Int, random: Double, _ policy: RetryPolicy = RetryPolicy()) -> Duration? {
        var patient = policy
        patient.retries = .max
        guard case .retry(let pause) = patient.decide(.transient, failures: failures, random: random) else { return nil }
        return pause
    }

    @Test(arguments: [(0, 1), (1, 2), (2, 4), (5, 32), (6, 60), (7, 60), (20, 60), (63, 60), (1000, 60)])
    func `pauses are spread from zero to a bound that doubles, up to the longest pause`(failures: Int, seconds: Int) {
        #expect(pause(failures, random: 0) == .zero)
        #expect(pause(failures, random: 0.5) == .milliseconds(seconds * 500))
        #expect(pause(failures, random: 1) == .seconds(seconds))
    }

    @Test func `a random number beyond its bounds makes no pause beyond its bounds`() {
        #expect(pause(0, random: -3) == .zero)
        #expect(pause(0, random: 7) == .seconds(1))
    }

    @Test func `a longest pause below the first pause still bounds all pauses`() {
        var short = RetryPolicy()
        short.longestPause = .milliseconds(10)
        #expect(pause(0, random: 1, short) == .milliseconds(10))
    }

    @Test(arguments: [AttemptFailure.unreachable, .transient], [0, 1, 3])
    func `a job is given up when its retries are used up`(failure: AttemptFailure, retries: Int) {
        var policy = RetryPolicy()
        policy.retries = retries
        for failures in 0..<retries {
            #expect(policy.decide(failure, failures: failures, random: 0) == .retry(after: .zero))
        }
        for failures in [retries, retries + 1, 255] {
            #expect(policy.decide(failure, failures: failures, random: 0) == .giveUp)
        }
    }

    @Test func `an attempt that failed for good is not repeated`() {
        #expect(policy.decide(.final, failures: 0, random: 1) == .giveUp)
    }

    @Test(arguments: [
        (nil, nil), (Duration.seconds(7), Duration.seconds(7)), (.seconds(-1), nil), (.zero, nil), (.seconds(1), .seconds(1)),
        (.seconds(3600), .seconds(3600)),
        (.seconds(86_400), .seconds(3600)),
    ])
    func `a host that asks for a pause gets it, within bounds, and the job loses no retry`(asked: Duration?, given: Duration?) {
        var policy = policy
        policy.retries = 0
        #expect(policy.decide(.throttled(asked), failures: 9, random: 1) == .coolDown(given))
    }
}
