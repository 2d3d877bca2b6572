internal import HTTPCaching
package import HTTPEngine

/// An answer as a caller gets it.
package struct ServedAnswer: Sendable, Hashable {
    package var finalURL: String
    package var status: Int
    package var headers: ResponseHeaders
    package var body: [UInt8]
    package var source: AnswerSource

    init(_ answer: CachedAnswer, _ source: AnswerSource) {
        finalURL = answer.facts.finalURL
        status = answer.facts.status
        headers = answer.facts.headers.headers
        body = answer.body
        self.source = source
    }

    init(_ download: Download, body: [UInt8]) {
        finalURL = download.finalURL
        status = download.status
        headers = download.headers
        self.body = body
        source = .network
    }
}
