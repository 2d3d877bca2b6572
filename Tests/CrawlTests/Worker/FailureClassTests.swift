import GannetHTTP
import Testing

@testable import Crawl
@testable import GannetQueue

@Suite struct FailureClassTests {
    @Test func `every class that a fetch may fail with is known, and so are those of jobs that were given up without one`() {
        var kinds: [FetchError.Kind] = [
            .invalidURL, .invalidRequest, .refusedAddress, .disallowed, .refusedRedirect, .tooManyRedirects, .connect, .proxy, .tls,
            .tooSlow, .reset,
            .truncated, .status(404), .status(599), .tooLarge, .headersTooLarge, .badEncoding, .protocolError, .unexpectedContent,
            .throttled,
            .cancelled, .storage, .systemLimit, .engine,
        ]
        kinds += FetchError.NameFailure.allCases.map { .dns($0) } + FetchError.Phase.allCases.map { .timeout($0) }
        for kind in kinds { #expect(FailureClass.isKnown(FetchError(kind: kind, url: "http://h/").className), "\(kind)") }
        #expect(FailureClass.isKnown("poison") && FailureClass.isKnown("unreadable"))
        #expect(Set(FailureClass.names).count == FailureClass.names.count)
    }

    @Test(arguments: ["", "nonsense", "status", "http-", "http-99", "http-1000", "http-abc", "HTTP-404", "DNS"])
    func `a text that is not a class is not known`(name: String) {
        #expect(!FailureClass.isKnown(name))
    }
}
