/// The directives of a `Cache-Control` header (RFC 9111, section 5.2), of an answer or of a request.
///
/// Unknown directives are ignored. A known directive that is badly written counts if it restricts and does not count if it permits.
package struct CacheControl: Sendable, Hashable {
    /// The value of a directive that takes a number of seconds.
    package enum Seconds: Sendable, Hashable {
        case absent
        /// No number, a negative number, a fraction, or several different numbers (RFC 9111, section 4.2.1).
        case invalid
        /// At most 2³¹, which stands for every larger number.
        case seconds(Int64)
    }

    /// The extent of a directive that may name headers.
    package enum Scope: Sendable, Hashable {
        case absent
        /// The whole answer.
        case everything
        /// The headers of these names, in small letters.
        case fields(Set<String>)
    }

    package internal(set) var maxAge = Seconds.absent
    package internal(set) var sharedMaxAge = Seconds.absent
    package internal(set) var staleWhileRevalidate = Seconds.absent
    package internal(set) var staleIfError = Seconds.absent
    package internal(set) var minFresh = Seconds.absent
    /// `DeltaSeconds.forever` where the directive has no number: any staleness is accepted.
    package internal(set) var maxStale = Seconds.absent

    package internal(set) var noCache = Scope.absent
    /// `private`: the answer is for one user.
    package internal(set) var isPrivate = Scope.absent

    package internal(set) var isPublic = false
    package internal(set) var noStore = false
    package internal(set) var mustUnderstand = false
    package internal(set) var mustRevalidate = false
    package internal(set) var proxyRevalidate = false
    package internal(set) var isImmutable = false
    package internal(set) var onlyIfCached = false
    /// Whether a quoted string has no end, so that the origin's intention is uncertain.
    package internal(set) var isMalformed = false

    /// Reads each line of the header alone, because quotes do not reach from one line to the next.
    package init(lines: [String]) {
        for line in lines {
            let list = HeaderList(line)
            if !list.isWellFormed { isMalformed = true }
            for member in list.members { read(Directive(member)) }
        }
    }

    /// Of an answer.
    package init(_ headers: ResponseHeaders) {
        self.init(lines: headers.has("cache-control") ? headers.values(of: "cache-control") : [])
    }

    /// Of a request.
    package init(request headers: [HeaderField]) {
        self.init(lines: headers.filter { $0.name.lowercased() == "cache-control" }.map(\.value))
    }

    /// Whether a stale answer may be used only after the origin has confirmed it (RFC 9111, sections 4.2.4, 5.2.2.2, 5.2.2.8, 5.2.2.10).
    package var forbidsStale: Bool {
        mustRevalidate || proxyRevalidate || sharedMaxAge != .absent || noCache == .everything
    }

    /// Whether others may have the answer although its request had credentials (RFC 9111, section 3.5).
    package var permitsSharingAfterCredentials: Bool {
        guard !isMalformed else { return false }
        if case .seconds = sharedMaxAge { return true }
        return isPublic || mustRevalidate
    }
}
