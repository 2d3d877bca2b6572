internal import ClusterState
internal import HTTPEngine

/// Why the body of a URL that was fetched cannot be had: a class of errors like a fetch's, and a sentence.
enum ExportLoss: String, Sendable {
    /// Its bytes are not kept any more.
    case evicted
    /// A worker has put it into a folder, and no folder was named.
    case elsewhere
    /// Nothing is known of it, not even the URL.
    case forgotten

    /// What the folder's record says of it: a failure. What the body was stays with it, so that whoever comes next knows that there was one.
    func record(_ id: URLID, url: String, status: Int = 0, digest: [UInt8]? = nil, size: Int = 0) -> JobRecord {
        var content = PageContent(url: url)
        content.status = status
        content.digest = digest
        content.size = size
        content.fields = [.errorClass: rawValue, .errorMessage: sentence(RedactedURL(url).description, id)]
        return JobRecord(exported: id, JobEnd(.failed, content))
    }

    private func sentence(_ url: String, _ id: URLID) -> String {
        switch self {
        case .evicted: "The body is not kept any more: \(url)"
        case .elsewhere: "The body is in the folder of a worker: \(url)"
        case .forgotten: "Nothing is kept of a URL, which has the id \(id.bytes.hexadecimal)"
        }
    }
}

extension JobRecord {
    /// A record of a URL whose list is not at hand.
    init(exported id: URLID, _ end: JobEnd) {
        self.init(id, end)
        url = RedactedURL.withoutUserInfo(end.content.url)
    }

    /// The URL was fetched once, and there is no body of it: that is to be had by fetching it again.
    var isLost: Bool { isFailed && digest != nil }
}
