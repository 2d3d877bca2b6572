internal import ClusterState
internal import HTTPEngine

extension FetchError {
    /// The failure that a page tells of, as whoever wrote it had it.
    init(_ content: PageContent, url: String) {
        let name = content.fields[.errorClass] ?? ""
        let message = content.fields[.errorMessage] ?? ""
        // Of a newer version's class the message still tells.
        self.init(kind: Kind(className: name) ?? .unexpectedContent, url: url, detail: message)
    }
}
