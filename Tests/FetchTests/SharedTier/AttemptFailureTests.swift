import Testing

@testable import GannetHTTP
@testable import GannetQueue
@testable import GannetRedis

@Suite struct AttemptFailureTests {
    @Test(arguments: [
        (FetchError.Kind.dns(.serverFailed), AttemptFailure.unreachable, Settlement.HostNews.silent),
        (.dns(.noAddress), .unreachable, .silent),
        (.dns(.noSuchName), .final, .silent),
        (.dns(.nobodyAnswers), .withoutNetwork, .none),
        (.connect, .unreachable, .silent),
        (.timeout(.resolve), .unreachable, .silent),
        (.timeout(.connect), .unreachable, .silent),
        (.timeout(.response), .transient, .silent),
        (.timeout(.body), .transient, .answered),
        (.tooSlow, .transient, .none),
        (.reset, .transient, .silent),
        (.truncated, .transient, .answered),
        (.status(500), .transient, .answered),
        (.status(502), .transient, .answered),
        (.status(599), .transient, .answered),
        (.status(503), .throttled(nil), .answered),
        (.status(429), .throttled(nil), .answered),
        (.status(408), .throttled(nil), .answered),
        (.status(425), .throttled(nil), .answered),
        (.status(404), .final, .answered),
        (.status(600), .final, .answered),
        (.status(304), .final, .answered),
        (.tls, .final, .silent),
        (.refusedAddress, .final, .none),
        (.disallowed, .final, .answered),
        (.tooLarge, .final, .answered),
        (.tooManyRedirects, .final, .answered),
    ])
    func `each failure has one kind, and counts for or against its host or not at all`(
        kind: FetchError.Kind, failure: AttemptFailure, news: Settlement.HostNews
    ) {
        #expect(AttemptFailure(FetchError(kind: kind, url: "http://h/").retry) == failure)
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
            #expect((AttemptFailure(error.retry) != .final) == error.isRetryable, "\(kind)")
        }
    }
}
