package import GannetHTTP
package import GannetQueue

extension OutcomeContent {
    /// The outcome of a URL that could not be fetched. Jobs and callers of the library write the same.
    package init(_ error: FetchError, url: String) {
        self.init(url: url)
        if case .status(let code) = error.kind { status = code }
        phases = error.phases
        fields = [.errorClass: error.className, .errorMessage: error.description]
    }
}

extension FetchError {
    /// The failure in an outcome, as its fetcher had it.
    package init(_ content: OutcomeContent, url: String) {
        let message = content.fields[.errorMessage] ?? ""
        var kind = Kind(className: content.fields[.errorClass] ?? "", message: message)
        // These kinds concern the other process only. The message also explains an unknown class.
        if let known = kind, known.retry.isOfThisProcess || known == .invalidURL || known == .engine { kind = nil }
        self.init(kind: kind ?? .unexpectedContent, url: url)
        detail = detail(of: message, about: content.url).escapedForDisplay
    }

    /// The cause in a whole sentence about a failure of this kind.
    private func detail(of message: String, about url: String) -> String {
        let start = "\(kind.sentence) (\(RedactedURL(url)))"
        guard message.hasPrefix(start) else { return message }
        let rest = message.dropFirst(start.count)
        return String((rest.hasPrefix(": ") ? rest.dropFirst(2) : rest).drop { $0 == "." })
    }
}
