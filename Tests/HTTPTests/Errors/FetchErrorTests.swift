import CCurl
import Testing

@testable import GannetHTTP

@Suite struct FetchErrorTests {
    @Test("Every result of libcurl but success is an error of one kind")
    func everyCode() {
        #expect(FetchError.Kind(CURLE_OK, phase: .body) == nil)
        for value in 1..<UInt32(CURL_LAST.rawValue) {
            #expect(FetchError.Kind(CURLcode(rawValue: value), phase: .body) != nil)
        }
    }

    @Test(
        "The results that HTTP meets have the kinds they should",
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, .dns(.serverFailed)), (CURLE_COULDNT_CONNECT, .connect),
            (CURLE_OPERATION_TIMEDOUT, .timeout(.response)),
            (CURLE_PEER_FAILED_VERIFICATION, .tls), (CURLE_SSL_CONNECT_ERROR, .tls), (CURLE_SSL_CACERT_BADFILE, .tls),
            (CURLE_PARTIAL_FILE, .truncated), (CURLE_RECV_ERROR, .reset), (CURLE_GOT_NOTHING, .reset), (CURLE_HTTP2_STREAM, .reset),
            (CURLE_HTTP2, .reset), (CURLE_WEIRD_SERVER_REPLY, .protocolError), (CURLE_TOO_MANY_REDIRECTS, .tooManyRedirects),
            (CURLE_FILESIZE_EXCEEDED, .tooLarge), (CURLE_BAD_CONTENT_ENCODING, .badEncoding), (CURLE_OUT_OF_MEMORY, .engine),
            (CURLE_UNSUPPORTED_PROTOCOL, .protocolError), (CURLE_WRITE_ERROR, .engine),
        ] as [(CURLcode, FetchError.Kind)])
    func code(code: CURLcode, kind: FetchError.Kind) {
        #expect(FetchError.Kind(code, phase: .response) == kind)
    }

    @Test(
        "A passing failure is retryable, and a lasting one is not",
        arguments: [
            (.dns(.serverFailed), true), (.dns(.nobodyAnswers), true), (.dns(.noSuchName), false), (.connect, true),
            (.timeout(.body), true), (.tooSlow, true), (.reset, true), (.truncated, true),
            (.status(500), true),
            (.status(503), true), (.status(599), true), (.status(429), true), (.status(408), true), (.status(425), true),
            (.status(404), false),
            (.status(304), false), (.status(600), false), (.status(999), false), (.tls, false), (.refusedAddress, false),
            (.disallowed, false),
            (.tooLarge, false),
            (.cancelled, false), (.storage, false), (.systemLimit, false), (.invalidURL, false),
        ] as [(FetchError.Kind, Bool)])
    func retries(kind: FetchError.Kind, isRetryable: Bool) {
        #expect(FetchError(kind: kind, url: "http://h/").isRetryable == isRetryable)
    }

    @Test(
        "A kind is found by its class and the beginning of its sentence, also where several kinds share a class",
        arguments: [
            .timeout(.resolve), .timeout(.connect), .timeout(.response), .timeout(.body), .timeout(.deadline), .dns(.noAddress),
            .dns(.serverFailed), .dns(.noSuchName), .status(404), .tls,
        ] as [FetchError.Kind])
    func classAndMessage(kind: FetchError.Kind) {
        let error = FetchError(kind: kind, url: "http://h/", detail: "why")
        #expect(FetchError.Kind(className: error.className, message: error.description) == kind)
        #expect(FetchError.Kind(className: "no-such-class", message: error.description) == nil)
    }

    @Test("An error is one sentence without credentials or control characters")
    func sentence() {
        let error = FetchError(kind: .connect, url: "http://me:pw@h/\u{1b}[2J?api_key=abc", detail: "Connection\nrefused")
        #expect(error.description == "Could not connect (http://h/\\u{1b}[2J?api_key=…): Connection\\u{a}refused.")
        #expect(FetchError(kind: .status(404), url: "http://h/").description == "The server answered 404 (http://h/).")
        #expect(FetchError(kind: .status(404), url: "http://h/").className == "http-404")
    }
}
