internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// Why the body of a fetched URL is missing: an error class like those of fetches, and a sentence.
enum ExportLoss: String, Sendable {
    /// The store that had the body has it no more.
    case evicted
    /// A worker has put the body into a folder, and none of those that the command was given has its file.
    case elsewhere
    /// Redis has forgotten the URL.
    case forgotten

    /// The record of this failure. It keeps the body's digest and size, so that a later export knows that there was a body.
    func record(_ id: URLID, url: String, status: Int = 0, digest: [UInt8]? = nil, size: Int = 0) -> JobRecord {
        var content = OutcomeContent(url: url)
        content.status = status
        content.digest = digest
        content.size = size
        content.fields = [.errorClass: rawValue, .errorMessage: sentence(RedactedURL(url).description, id)]
        return JobRecord(exported: id, .failed, content)
    }

    private func sentence(_ url: String, _ id: URLID) -> String {
        switch self {
        case .evicted: "The body is not kept any more: \(url)"
        case .elsewhere: "A worker has put the body into a folder, and no '--store' has it: \(url)"
        case .forgotten: "Redis has forgotten the URL with the id \(id.short)"
        }
    }
}

extension JobRecord {
    /// A record with its URL, for a folder without a list of URLs.
    init(exported id: URLID, _ outcome: Outcome, _ content: OutcomeContent, duration: Duration = .zero) {
        self.init(id, outcome, content, duration: duration)
        url = RedactedURL.withoutUserInfo(content.url)
    }

    /// The URL was fetched, and its body is missing.
    var isLost: Bool { isFailed && digest != nil }
}
