import ClusterState
import GannetBasics
import HTTPEngine

/// The outcome of a URL, for scripts. The names in the JSON are a contract.
struct PageReport: Sendable {
    let page: Page
    /// Queue time, ms.
    let now: Int

    var json: JSONValue {
        let content = page.content
        return [
            "url": .string(RedactedURL.withoutSecrets(content.url)), "outcome": .string(page.isNegative ? "failed" : "fetched"),
            "httpStatus": JSONValue(content.httpStatus), "bytes": .integer(content.size),
            "sha256": JSONValue(content.digest?.hexadecimal), "contentType": JSONValue(content.fields[.contentType]),
            "file": JSONValue(content.fields[.file]), "ageSeconds": JSONValue(page.age(at: now)),
            "freshSeconds": JSONValue(max(.zero, page.freshFor(at: now))),
            "error": page.failure.map { ["class": .string($0.kind), "message": .string($0.sentence)] } ?? .null,
        ]
    }
}
