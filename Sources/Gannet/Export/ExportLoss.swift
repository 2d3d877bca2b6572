internal import ClusterState
internal import HTTPEngine

/// Why the body of a URL that has ended cannot be had: a class of errors like a fetch's, and a sentence.
enum ExportLoss: String, Sendable {
    /// It was fetched, and its bytes are not kept any more.
    case evicted
    /// Redis does not know how it ended.
    case forgotten

    func sentence(_ url: String, id: URLID) -> String {
        switch self {
        case .evicted: "The body is not kept any more: \(url)"
        case .forgotten: "What became of it is not kept any more: \(url.isEmpty ? "the URL with the id \(id.bytes.hexadecimal)" : url)"
        }
    }

    /// What the folder's record says of it.
    func record(_ id: URLID, url: String, status: Int = 0) -> JobRecord {
        var content = PageContent(url: url)
        content.status = status
        content.fields = [.errorClass: rawValue, .errorMessage: sentence(RedactedURL(url).description, id: id)]
        return JobRecord(exported: id, JobEnd(.failed, content))
    }
}
