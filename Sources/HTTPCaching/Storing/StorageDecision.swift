/// Whether an answer may be kept for those who ask later (RFC 9111, section 3), and on which terms.
package enum StorageDecision: Sendable, Hashable {
    case keep(Terms)
    /// Not kept. Those who wait already may still have it, as far as `Reason.audience` says.
    case refuse(Reason)

    /// What is kept beside the body.
    package struct Terms: Sendable, Hashable {
        package let freshness: Freshness
        /// The request headers that tell this answer from others of its URL.
        package let selecting: SelectingHeaders
        package let variant: VariantKey
        /// Whether it may be used for a request with credentials: its origin says that it is everybody's.
        package let isForEverybody: Bool
        package let headers: KeptHeaders
    }

    /// Why an answer is not kept.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The request says `no-store`.
        case requestForbids
        /// The answer says `no-store`.
        case noStore
        /// One user's alone.
        case isPrivate
        /// Asked for with credentials, and it does not say that others may have it.
        case credentials
        /// No final answer: 1xx.
        case interim
        /// 206: nobody here puts parts together.
        case partial
        /// Not all of it came.
        case incomplete
        /// 304 is news of an answer and not one: see `StoredAnswer.revalidated(by:policy:)`.
        case notModified
        /// Its status must not be kept (RFC 6585).
        case status
        /// It may be kept by those alone who understand its status.
        case notUnderstood
        /// Its status may be kept only when it gives a lifetime, and it gives none.
        case noLifetime
        /// `Vary: *`, or one that cannot be read.
        case variesByAnything
        /// By more headers than are told apart.
        case variesByTooMuch
        /// The headers that say for how long it holds, and for whom, are too long to be kept, or no text.
        case unkeepableHeaders
        /// Stale from the start, with nothing to ask its origin by: nobody could ever use it.
        case ofNoUse
    }
}

extension StorageDecision.Reason {
    /// Who of those that wait for the answer may have it although it is not kept: they asked before it was there, so for them it is as good as one
    /// of their own.
    package var audience: Audience {
        switch self {
        case .requestForbids, .noStore, .interim, .status, .notUnderstood, .noLifetime, .unkeepableHeaders, .ofNoUse: .allWaiting
        // It may depend on who asked and how.
        case .isPrivate, .credentials, .variesByAnything, .variesByTooMuch: .sameRequest
        case .partial, .incomplete, .notModified: .nobody
        }
    }

    /// Whether what is kept for the URL so far is to be dropped: its origin has said something else since. Not where only this request, or
    /// its fetch, was a special one.
    package var outdatesKept: Bool {
        switch self {
        case .requestForbids, .credentials, .interim, .partial, .incomplete, .notModified: false
        case .noStore, .isPrivate, .status, .notUnderstood, .noLifetime, .variesByAnything, .variesByTooMuch, .unkeepableHeaders, .ofNoUse:
            true
        }
    }
}
