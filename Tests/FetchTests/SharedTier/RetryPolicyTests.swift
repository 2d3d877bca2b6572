import GannetQueue
import Testing

@testable import GannetHTTP
@testable import GannetRedis

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy()

    private func pause(_ failures: Int, random: Double, _ policy: RetryPolicy = RetryPolicy()) -> Duration? {
        var patient = policy
        patient.retries = .max
        guard case .retry(let pause) = patient.decide(.later, failures: failures, random: random) else { return nil }
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

    @Test(arguments: [FetchError.RetryClass.unreachable, .later], [0, 1, 3])
    func `a job is given up when its retries are used up`(failure: FetchError.RetryClass, retries: Int) {
        var policy = RetryPolicy()
        policy.retries = retries
        for failures in 0..<retries {
            #expect(policy.decide(failure, failures: failures, random: 0) == .retry(after: .zero))
        }
        for failures in [retries, retries + 1, 255] {
            #expect(policy.decide(failure, failures: failures, random: 0) == .giveUp)
        }
    }

    @Test(arguments: [FetchError.RetryClass.never, .local, .cancelled])
    func `an attempt that failed for good is not repeated`(failure: FetchError.RetryClass) {
        #expect(policy.decide(failure, failures: 0, random: 1) == .giveUp)
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

    @Test func `without a network a job is put off by itself for five to ten seconds, and its host does not rest`() {
        var policy = policy
        policy.retries = 0
        #expect(policy.decide(.withoutNetwork, failures: 9, random: 0) == .putOff(.seconds(5)))
        #expect(policy.decide(.withoutNetwork, failures: 9, random: 1) == .putOff(.seconds(10)))
    }

    @Test(arguments: [
        (FetchError.Kind.dns(.serverFailed), FetchError.RetryClass.unreachable, Settlement.HostNews.silent),
        (.dns(.noAddress), .unreachable, .silent),
        (.dns(.noSuchName), .never, .silent),
        (.dns(.nobodyAnswers), .withoutNetwork, .none),
        (.connect, .unreachable, .silent),
        (.timeout(.resolve), .unreachable, .silent),
        (.timeout(.connect), .unreachable, .silent),
        (.timeout(.response), .later, .silent),
        (.timeout(.body), .later, .answered),
        (.tooSlow, .later, .none),
        (.reset, .later, .silent),
        (.truncated, .later, .answered),
        (.status(500), .later, .answered),
        (.status(502), .later, .answered),
        (.status(599), .later, .answered),
        (.status(503), .throttled(nil), .answered),
        (.status(429), .throttled(nil), .answered),
        (.status(408), .throttled(nil), .answered),
        (.status(425), .throttled(nil), .answered),
        (.status(404), .never, .answered),
        (.status(600), .never, .answered),
        (.status(304), .never, .answered),
        (.tls, .never, .silent),
        (.refusedAddress, .never, .none),
        (.disallowed, .never, .answered),
        (.tooLarge, .never, .answered),
        (.tooManyRedirects, .never, .answered),
    ])
    func `each failure has one kind, and counts for or against its host or not at all`(
        kind: FetchError.Kind, failure: FetchError.RetryClass, news: Settlement.HostNews
    ) {
        #expect(FetchError(kind: kind, url: "http://h/").retry == failure)
        #expect(Settlement.HostNews(kind) == news)
    }

    @Test func `the failures that the engine calls retryable are tried again, and no others`() {
        let kinds: [FetchError.Kind] = [
            .invalidURL, .invalidRequest, .refusedAddress, .disallowed, .refusedRedirect, .tooManyRedirects, .dns(.noSuchName),
            .dns(.nobodyAnswers),
            .connect, .tls, .timeout(.resolve),
            .timeout(.connect), .timeout(.response), .timeout(.body), .tooSlow, .reset, .truncated, .tooLarge, .headersTooLarge,
            .badEncoding, .protocolError, .throttled, .cancelled, .storage, .systemLimit, .engine,
        ]
        for kind in kinds + (300..<700).map({ .status($0) }) {
            let error = FetchError(kind: kind, url: "http://h/")
            #expect((policy.decide(error.retry, failures: 0, random: 0) != .giveUp) == error.isRetryable, "\(kind)")
        }
    }
}
