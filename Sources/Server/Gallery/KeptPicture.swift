internal import Crawl
internal import GannetBase
internal import GannetHTTP
internal import GannetQueue
internal import Results

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
    /// - Parameter endedAt: By this machine's clock; of a picture that was in the folder of a run before, the time of its file.
    init?(_ id: URLID, _ content: OutcomeContent, _ failure: URLOutcome.Failure?, endedAt: Moment, host: () -> Int32) {
        self.failure = failure
        type = failure == nil ? FoundPictures.pictureType(of: content) : nil
        if failure == nil, type == nil || content.digest == nil { return nil }
        self.id = id
        url = content.url
        self.host = host()
        self.endedAt = endedAt
        bytes = content.size
        digest = content.digest
        httpStatus = content.httpStatus
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
