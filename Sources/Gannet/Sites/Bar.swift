internal import ClusterState
internal import HTTPEngine

extension JobAttempt {
    /// Why a site keeps a job's request from a URL.
    enum Bar: Sendable {
        /// The job ends: a rule says no, or the rules can never be had.
        case final(FetchError)
        /// The job comes back when the rules may be known.
        case untilKnown(FetchError, Duration, isRedirect: Bool)
    }
}

extension JobAttempt.Bar {
    /// Nil where the request may be made.
    /// - Parameters:
    ///   - sites: Nil for a job that obeys none.
    ///   - jobURL: The URL of the job, which the error names.
    ///   - isRedirect: Whether an answer has led to the URL.
    init?(to url: CanonicalURL, of sites: Sites?, for jobURL: String, isRedirect: Bool) async {
        guard let sites else { return nil }
        let place = "\(url.plainOrigin)/robots.txt"
        let start = isRedirect ? "redirected to \(url): " : ""
        switch await sites.permission(for: url) {
        case .granted: return nil
        case .denied(let rule): self = .final(FetchError(kind: .disallowed, url: jobURL, detail: start + rule))
        case .failed(let error):
            let detail = "\(start)the rules of the site, \(place), cannot be had" + (error.detail.isEmpty ? "" : ": \(error.detail)")
            self = .final(FetchError(kind: error.kind, url: jobURL, detail: detail))
        case .unknown(let error, let pause):
            // A message with two full stops would read like two.
            let reason = error.description.hasSuffix(".") ? String(error.description.dropLast()) : error.description
            let detail = "\(start)the rules of the site, \(place), cannot be had for now: \(reason)"
            self = .untilKnown(FetchError(kind: .throttled, url: jobURL, detail: detail), pause, isRedirect: isRedirect)
        }
    }
}
