import Gannet

/// What is known of a URL, for scripts; the names in the JSON are a contract.
struct PageReport: Sendable {
    let page: KnownPage

    var json: JSONValue {
        [
            "url": .string(page.url), "outcome": .string(page.failure == nil ? "fetched" : "failed"),
            "httpStatus": JSONValue(page.httpStatus), "bytes": .integer(page.size), "sha256": JSONValue(page.sha256),
            "contentType": JSONValue(page.contentType), "file": JSONValue(page.file),
            "ageSeconds": JSONValue(page.age), "freshSeconds": JSONValue(max(.zero, page.freshFor)),
            "error": page.failure.map { ["class": .string($0.kind), "message": .string($0.sentence)] } ?? .null,
        ]
    }
}
