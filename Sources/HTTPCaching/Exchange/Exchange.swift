package import HTTPEngine

/// An answer and how it came, as far as a cache goes by it.
package struct Exchange: Sendable, Hashable {
    package var request: RequestFacts
    /// The URL that answered, after redirects.
    package var finalURL: String
    package var status: Int
    package var headers: ResponseHeaders
    /// The answers that led on, in order. What is kept under the URL that was asked for is as good as the weakest of them.
    package var redirects: [Download.Hop]
    /// By the wall clock, just before the request was sent.
    package var requestedAt: Moment
    /// By the same clock, when the answer was there.
    package var receivedAt: Moment
    /// Whether all of the body came.
    package var isComplete = true

    package init(
        request: RequestFacts, finalURL: String, status: Int, headers: ResponseHeaders, redirects: [Download.Hop] = [],
        requestedAt: Moment, receivedAt: Moment
    ) {
        self.request = request
        self.finalURL = finalURL
        self.status = status
        self.headers = headers
        self.redirects = redirects
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
    }

    package init(_ download: Download, request: RequestFacts, requestedAt: Moment, receivedAt: Moment) {
        self.init(
            request: request, finalURL: download.finalURL, status: download.status, headers: download.headers, redirects: download.hops,
            requestedAt: requestedAt, receivedAt: receivedAt)
    }

    /// Whether nobody on the way could have changed it.
    var isAuthenticated: Bool {
        ([request.url, finalURL] + redirects.map(\.url)).allSatisfy { $0.prefix(8).lowercased() == "https://" }
    }
}
