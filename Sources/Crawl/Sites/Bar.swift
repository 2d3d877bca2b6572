internal import GannetHTTP
internal import GannetQueue

extension JobAttempt {
    /// Why a site keeps a job's request from a URL.
    enum Bar: Sendable {
        /// The job ends: a rule says no. Its host may have answered, with a redirect to itself.
        case disallowed(FetchError, hasAnswered: Bool)
        /// The rules cannot be had. The job goes on as if the request for the URL had failed so.
        case unknown(FetchError)
        /// The job goes back at once, and is handed out again when its host may get another request.
        case untilTurn
        case lostTouch(StateError)
    }
}

extension JobAttempt.Bar {
    /// Nil where the request may be made.
    /// - Parameters:
    ///   - sites: Nil for a job that obeys none.
    ///   - claimed: When the job was handed out with a place at the URL's host; nil where it has none there yet.
    ///   - jobURL: The URL of the job, which the error names.
    ///   - hop: The redirect that has led to the URL.
    ///   - asked: Called when the URL's origin has answered a request for its rules.
    init?(
        to url: CanonicalURL, of sites: Sites?, _ paces: Paces, for jobURL: String, claimed: Int?, after hop: NextHop? = nil,
        asked: @Sendable () -> Void = {}
    ) async {
        do throws(StateError) {
            guard let sites else {
                // Only a worker that adapts its pace has one for such a job.
                if try await paces.permits(nil, of: url, claimed: claimed) { return nil }
                self = .untilTurn
                return
            }
            try await self.init(asking: sites, paces, to: url, for: jobURL, claimed: claimed, after: hop, asked: asked)
        } catch {
            self = .lostTouch(error)
        }
    }

    private init?(
        asking sites: Sites, _ paces: Paces, to url: CanonicalURL, for jobURL: String, claimed: Int?, after hop: NextHop?,
        asked: @Sendable () -> Void
    ) async throws(StateError) {
        let place = "\(url.plainOrigin)/robots.txt"
        let start = hop != nil ? "redirected to \(url): " : ""
        switch await sites.permission(for: url, asked: asked) {
        case .granted(let delay):
            if try await paces.permits(delay, of: url, claimed: claimed) { return nil }
            self = .untilTurn
        case .denied(let rule):
            let hasAnswered = hop.map { !$0.isElsewhere } ?? false
            self = .disallowed(FetchError(kind: .disallowed, url: jobURL, detail: start + rule), hasAnswered: hasAnswered)
        case .unknown(let error):
            // A message with two full stops would read like two.
            let reason = error.description.hasSuffix(".") ? String(error.description.dropLast()) : error.description
            let named = reason.contains(place) ? reason : "\(place): \(reason)"
            let detail = "\(FetchError.unreadRules) (\(RedactedURL(jobURL))): \(start)\(named)."
            self = .unknown(FetchError(kind: error.kind, url: jobURL, detail: detail, retryAfter: error.retryAfter))
        }
    }
}
