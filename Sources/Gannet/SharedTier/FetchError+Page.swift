internal import ClusterState
internal import HTTPEngine

extension FetchError {
    /// The failure that a page tells of, as whoever wrote it had it.
    init(_ content: PageContent, url: String) {
        let name = content.fields[.errorClass] ?? ""
        let message = content.fields[.errorMessage] ?? ""
        var kind = Kind(className: name)
        // What was another process' own affair, or nobody's by now, is not this one's. Of a newer version's class the message still tells.
        if let known = kind, [.cancelled, .local].contains(known.retry) || known == .invalidURL || known == .engine { kind = nil }
        self.init(kind: kind ?? .unexpectedContent, url: url, detail: message)
    }
}
