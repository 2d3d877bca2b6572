/// Why a host name has no address to connect to.
struct ResolveFailure: Error, Sendable, Hashable {
    let kind: FetchError.Kind
    /// The part of the reason that the sentence of the kind leaves open; may be empty.
    let detail: String

    private init(_ kind: FetchError.Kind, _ detail: String = "") { (self.kind, self.detail) = (kind, detail) }

    /// The name servers say that there is no such name.
    static let noSuchName = Self(.dns(.noSuchName))
    /// The name exists and has no address.
    static let noAddress = Self(.dns(.noAddress))
    /// No answer in time, while the name servers do answer: the servers of this name's own domain do not.
    static let timedOut = Self(.timeout(.resolve), "no answer in time, while the name servers answer for other names")
    /// No name server answers any question. Any other name would have failed too.
    static let noNameServer = Self(.dns(.nobodyAnswers), "check the network and /etc/resolv.conf")
    /// No file descriptor, or no memory, was left to ask with.
    static let systemLimit = Self(
        .systemLimit, "no file descriptor or memory was left to ask a name server; \(SystemLimit.advice)")
    /// A name of the Tor network, which must not be sent to a name server.
    static let onion = Self(.dns(.noSuchName), "names under .onion are never looked up")

    /// Every name server was asked, and none could answer the question.
    static func serverFailed(_ trouble: QueryOutcome.Trouble) -> Self {
        Self(.dns(.serverFailed), "the name servers could not tell (\(trouble.rawValue))")
    }

    /// The text cannot be a host name.
    static func badName(_ why: String) -> Self { Self(.invalidURL, "not a host name: \(why)") }
}

/// The outcome of a look-up: addresses to try in this order, at least one and at most 16, or why there are none.
typealias Resolution = Result<[IPAddress], ResolveFailure>
