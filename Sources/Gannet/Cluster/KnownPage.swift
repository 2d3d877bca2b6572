internal import ClusterState
internal import HTTPEngine

/// What is known of a URL that was fetched, or could not be.
package struct KnownPage: Sendable, Equatable {
    /// Without credentials, and else as it is.
    package let url: String
    package let httpStatus: Int?
    package let size: Int
    /// 64 hexadecimal digits; `nil` without a body.
    package let sha256: String?
    package let contentType: String?
    /// Where it is within the folder of the worker that fetched it; `nil` where bodies are in Redis.
    package let file: String?
    /// Why there is no body.
    package let failure: Failure?

    package let age: Duration
    /// For how long it is still good; zero or less when its origin would be asked.
    package let freshFor: Duration

    package struct Failure: Sendable, Equatable {
        package let kind: String
        package let sentence: String
    }

    let digest: [UInt8]?

    init(_ page: Page, now: Int) {
        let content = page.content
        url = RedactedURL.withoutSecrets(content.url)
        httpStatus = content.status == 0 ? nil : content.status
        size = content.size
        digest = content.digest
        sha256 = content.digest.map(\.hexadecimal)
        contentType = content.fields[.contentType]
        file = content.fields[.file]
        failure =
            page.isNegative
            ? Failure(kind: content.fields[.errorClass] ?? "unknown", sentence: content.fields[.errorMessage] ?? "It could not be fetched.")
            : nil
        age = .milliseconds(max(0, now - page.ended))
        freshFor = .milliseconds(page.freshUntil - now)
    }
}
