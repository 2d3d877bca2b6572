internal import ClusterState
internal import Gannet
internal import GannetBasics
internal import HTTPCaching
internal import HTTPEngine

/// A cell of the gallery: a picture that was fetched, or a failure.
struct KeptPicture: Sendable {
    let id: URLID
    let url: String
    /// The number of its host in the index.
    let host: Int32
    let endedAt: Moment
    let bytes: Int
    /// Such as `image/png`; nil for a failure.
    let type: String?
    let digest: [UInt8]?
    let httpStatus: Int?
    let failure: URLOutcome.Failure?

    /// Nil for the outcome of a URL that is no picture. A failed URL may have been one.
    /// - Parameter endedAt: By this machine's clock.
    init?(_ id: URLID, _ outcome: URLOutcome, endedAt: Moment, host: () -> Int32) {
        let content = outcome.content
        failure = outcome.failure
        type = failure == nil ? content.fields[.contentType].flatMap { Self.pictureType($0) } : nil
        if failure == nil, type == nil || content.digest == nil { return nil }
        self.id = id
        url = content.url
        self.host = host()
        self.endedAt = endedAt
        bytes = content.size
        digest = content.digest
        httpStatus = content.httpStatus
    }

    /// The media type of a picture, without its parameters.
    static func pictureType(_ text: String) -> String? {
        let type = text.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return type.hasPrefix("image/") && type.utf8.count <= 64 ? type : nil
    }

    func json(host: String, isFavourite: Bool) -> JSONValue {
        [
            "id": .string(id.bytes.hexadecimal), "url": .string(RedactedURL.withoutSecrets(url)), "host": .string(host),
            "failed": .bool(failure != nil), "endedAt": .string(endedAt.timestamp), "bytes": failure == nil ? .integer(bytes) : .null,
            "type": JSONValue(type), "digest": JSONValue(digest?.hexadecimal), "httpStatus": JSONValue(httpStatus),
            "error": failure.map { ["class": .string($0.kind), "message": .string($0.sentence)] } ?? .null,
            "favourite": .bool(isFavourite),
        ]
    }
}
