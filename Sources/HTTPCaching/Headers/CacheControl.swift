package import HTTPEngine

/// The directives of a `Cache-Control` header (RFC 9111, section 5.2), of an answer or of a request.
///
/// What is unknown is ignored; what is known and badly written counts as far as it restricts, and not where it permits.
package struct CacheControl: Sendable, Hashable {
    /// What a directive says that takes a number of seconds.
    package enum Seconds: Sendable, Hashable {
        case absent
        /// No number, a negative one, a fraction, none where one must be, or several different ones (RFC 9111, section 4.2.1).
        case invalid
        /// At most 2³¹, which stands for all that is beyond.
        case seconds(Int64)
    }

    /// What a directive holds for that may name headers.
    package enum Scope: Sendable, Hashable {
        case absent
        /// The answer as a whole.
        case everything
        /// The headers of these names, in small letters.
        case fields(Set<String>)
    }

    package internal(set) var maxAge = Seconds.absent
    package internal(set) var sharedMaxAge = Seconds.absent
    package internal(set) var staleWhileRevalidate = Seconds.absent
    package internal(set) var staleIfError = Seconds.absent
    package internal(set) var minFresh = Seconds.absent
    /// Without a number any staleness will do: `DeltaSeconds.forever`.
    package internal(set) var maxStale = Seconds.absent

    package internal(set) var noCache = Scope.absent
    /// `private`: one user's alone.
    package internal(set) var isPrivate = Scope.absent

    package internal(set) var isPublic = false
    package internal(set) var noStore = false
    package internal(set) var mustUnderstand = false
    package internal(set) var mustRevalidate = false
    package internal(set) var proxyRevalidate = false
    package internal(set) var isImmutable = false
    package internal(set) var onlyIfCached = false
    /// A quoted string without an end: what the origin wanted to say is uncertain.
    package internal(set) var isMalformed = false

    /// Reads all lines of the header, each for itself: quotes do not reach from one to the next.
    package init(lines: [String]) {
        for line in lines {
            let list = HeaderList(line)
            if !list.isWellFormed { isMalformed = true }
            for member in list.members { read(Directive(member)) }
        }
    }

    /// That of an answer.
    package init(_ headers: ResponseHeaders) {
        self.init(lines: headers.has("cache-control") ? headers.values(of: "cache-control") : [])
    }

    /// That of a request.
    package init(request headers: [HeaderField]) {
        self.init(lines: headers.filter { $0.name.lowercased() == "cache-control" }.map(\.value))
    }

    /// Whether what is stale may be used only after the origin has confirmed it (RFC 9111, sections 4.2.4, 5.2.2.2, 5.2.2.8, 5.2.2.10).
    package var forbidsStale: Bool {
        mustRevalidate || proxyRevalidate || sharedMaxAge != .absent || noCache == .everything
    }

    /// Whether it says that the answer may be kept for others although it was asked for with credentials (RFC 9111, section 3.5).
    package var permitsSharingAfterCredentials: Bool {
        guard !isMalformed else { return false }
        if case .seconds = sharedMaxAge { return true }
        return isPublic || mustRevalidate
    }
}
