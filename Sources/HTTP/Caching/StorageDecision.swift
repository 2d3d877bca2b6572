/// Whether an answer may be kept for later callers (RFC 9111, section 3), and on which terms.
package enum StorageDecision: Sendable, Hashable {
    case keep(Terms)
    /// The answer is not kept. Callers that wait already may still get it, unless `Reason.isForOneRequest`.
    case refuse(Reason)

    /// The facts that are kept beside the body.
    package struct Terms: Sendable, Hashable {
        package let freshness: Freshness
        /// Whether a request with credentials may get the answer, because its origin says that it is for everybody.
        package let isForEverybody: Bool
        package let headers: KeptHeaders
    }

    /// Why an answer is not kept.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The request says `no-store`.
        case requestForbids
        /// The answer says `no-store`.
        case noStore
        /// The answer says `private`.
        case isPrivate
        /// The request had credentials, and the answer does not say that others may have it.
        case credentials
        /// 1xx: no final answer.
        case interim
        /// 206: this cache does not join parts.
        case partial
        /// 304 is about another answer: see `StoredAnswer.revalidated(by:policy:)`.
        case notModified
        /// The status must not be kept (RFC 6585).
        case status
        /// Only a cache that understands the status may keep the answer, and this one does not.
        case notUnderstood
        /// An answer of this status needs a lifetime to be kept, and has none.
        case noLifetime
        /// `Vary: *`, or an unreadable `Vary`.
        case variesByAnything
        /// The headers that decide about the answer's use are too long to be kept, or are no text.
        case unkeepableHeaders
        /// The answer is stale from the start and cannot be revalidated, so that no caller could ever use it.
        case ofNoUse
    }
}

extension StorageDecision.Reason {
    /// Whether a cache between several users may give the answer to one request alone, and not to others that waited for it. Answers that are
    /// only stale from the start may go to all of these.
    package var isForOneRequest: Bool {
        switch self {
        case .noStore, .isPrivate, .credentials, .variesByAnything, .partial, .notModified: true
        case .requestForbids, .interim, .status, .notUnderstood, .noLifetime, .unkeepableHeaders, .ofNoUse: false
        }
    }

    /// Whether the kept answer of the URL is dropped, because its origin has said something else since. A special request does not drop it.
    package var outdatesKept: Bool {
        switch self {
        case .requestForbids, .credentials, .interim, .partial, .notModified: false
        case .noStore, .isPrivate, .status, .notUnderstood, .noLifetime, .variesByAnything, .unkeepableHeaders, .ofNoUse: true
        }
    }
}

extension StorageDecision {
    package init(for exchange: Exchange, policy: FreshnessPolicy) {
        self = Self.decision(exchange, policy)
    }

    /// Whether the headers of an answer that is still coming say that it is for one request alone.
    package static func isForOneRequest(status: Int, headers: ResponseHeaders, _ request: RequestFacts) -> Bool {
        if let reason = refusal(of: AnswerHead(status: status, headers: headers), request) { return reason.isForOneRequest }
        return headers.varyByAnything
    }

    private static func decision(_ exchange: Exchange, _ policy: FreshnessPolicy) -> StorageDecision {
        if exchange.request.control.noStore { return .refuse(.requestForbids) }
        let (final, redirects) = (exchange.finalHead, exchange.redirectHeads)
        var isForEverybody = true
        // A redirect that forbids to keep it forbids to keep the answer. A redirect without a lifetime does not: it is asked again each time.
        for head in [final] + redirects {
            if let reason = refusal(of: head, exchange.request) { return .refuse(reason) }
            if head.headers.varyByAnything { return .refuse(.variesByAnything) }
            isForEverybody = isForEverybody && head.control.permitsSharingAfterCredentials
            guard hasLifetime(final) || final.isHeuristicallyCacheable else { return .refuse(.noLifetime) }
        }
        guard let headers = KeptHeaders(of: final, receivedAt: exchange.receivedAt) else { return .refuse(.unkeepableHeaders) }
        let freshness = Freshness(of: final, after: redirects, in: exchange, policy)
        let isOfUse = max(freshness.staleWhileRevalidateUntil, freshness.staleIfErrorUntil) > exchange.receivedAt
        guard isOfUse || headers.haveValidators else { return .refuse(.ofNoUse) }
        return .keep(Terms(freshness: freshness, isForEverybody: isForEverybody, headers: headers))
    }

    /// The reason of one answer or redirect, by its status and directives; nil when these permit to keep it.
    private static func refusal(of head: AnswerHead, _ request: RequestFacts) -> Reason? {
        switch head.status {
        case ..<200: return .interim
        case 206: return .partial
        case 304: return .notModified
        // RFC 6585, sections 3 to 6.
        case 428, 429, 431, 511: return .status
        default: break
        }
        // A cache that obeys `must-understand`, and does understand, ignores `no-store`: that is there for other caches.
        if head.control.mustUnderstand {
            guard head.isUnderstood else { return .notUnderstood }
        } else if head.control.noStore {
            return .noStore
        }
        if head.control.isPrivate == .everything { return .isPrivate }
        return request.hasCredentials && !head.control.permitsSharingAfterCredentials ? .credentials : nil
    }

    /// Whether the answer permits to keep it or gives a lifetime, even a badly written one.
    private static func hasLifetime(_ head: AnswerHead) -> Bool {
        head.control.isPublic || head.control.maxAge != .absent || head.control.sharedMaxAge != .absent || head.headers.has("expires")
    }
}

extension ResponseHeaders {
    /// Whether `Vary` is `*`, or has a member that is no name (RFC 9110, section 12.5.5). Names select nothing here: all headers of the caller
    /// are in the key of the answer.
    fileprivate var varyByAnything: Bool {
        has("vary") && values(of: "vary").flatMap { HeaderList($0).members }.contains { $0 == "*" || !$0.utf8.allSatisfy(\.isTokenByte) }
    }
}
