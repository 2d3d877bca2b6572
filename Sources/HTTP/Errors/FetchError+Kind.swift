extension FetchError {
    /// The ways in which a fetch fails.
    public enum Kind: Sendable, Hashable {
        /// The text is not an absolute http or https URL that can be requested.
        case invalidURL
        /// The request asks for something that cannot be sent, such as a header that is the engine's own.
        case invalidRequest
        /// Every address of the host is one the address guard refuses.
        case refusedAddress
        /// The site does not permit the fetch, by its robots.txt or by the head of its answer.
        case disallowed
        /// A redirect led to a text that is no URL, or to a URL that must not be fetched.
        case refusedRedirect
        case tooManyRedirects
        case dns(NameFailure)
        case connect
        /// The proxy could not be reached, or would not go on to the host.
        case proxy
        case tls
        case timeout(Phase)
        /// The transfer stayed below the least permitted speed.
        case tooSlow
        /// The connection ended before or within the answer.
        case reset
        /// The body ended before its announced length.
        case truncated
        /// An answer with a status other than success.
        case status(Int)
        /// The body exceeds its limit.
        case tooLarge
        /// The response's headers exceed their limit.
        case headersTooLarge
        /// The body came encoded, and it cannot be decoded, or was cut.
        case badEncoding
        /// The answer is not HTTP, or breaks its rules.
        case protocolError
        /// The body is not what it should be, such as an image.
        case unexpectedContent
        /// The host answered for too long that it is too busy, or its rule left no place for the request.
        case throttled
        case cancelled
        /// The body could not be written.
        case storage
        /// This machine or process has reached a limit: no file descriptor is left.
        case systemLimit
        /// The engine itself failed: no memory, a libcurl without a needed feature, a defect.
        case engine
    }

    /// Why a host's name led to no address.
    public enum NameFailure: Sendable, Hashable, CaseIterable {
        /// The name does not exist, by the word of its own name servers.
        case noSuchName
        /// It exists and has no address.
        case noAddress
        /// The name servers answer, but not about this name.
        case serverFailed
        /// No name server answers at all. The URL is not to blame.
        case nobodyAnswers
    }

    /// The part of a transfer in which a timeout struck.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        case resolve, connect, response, body
        /// The call as a whole: the deadline of its request was over, in whatever part.
        case deadline
    }
}

extension FetchError.Kind {
    var className: String { words.className }

    package var sentence: String { words.sentence }

    /// The class name, which is the same in every version, and the beginning of the error's sentence.
    private var words: (className: String, sentence: String) {
        switch self {
        case .invalidURL: ("invalid-url", "Not a URL that can be fetched")
        case .invalidRequest: ("invalid-request", "Not a request that can be sent")
        case .refusedAddress: ("refused", "The address is not public and not permitted")
        case .disallowed: ("disallowed", "The site does not permit the fetch")
        case .refusedRedirect: ("bad-redirect", "Redirected to a URL that cannot be fetched")
        case .tooManyRedirects: ("redirects", "Redirected too often")
        case .dns(.noSuchName): ("no-such-host", "The host name does not exist")
        case .dns(.noAddress): ("dns", "The host name has no address")
        case .dns(.serverFailed): ("dns", "The host name could not be resolved")
        case .dns(.nobodyAnswers): ("no-dns", "No name server answers")
        case .connect: ("connect", "Could not connect")
        case .proxy: ("proxy", "The proxy did not help")
        case .tls: ("tls", "No trusted TLS connection")
        case .timeout(.resolve): ("timeout", "Timed out resolving the host name")
        case .timeout(.connect): ("timeout", "Timed out connecting")
        case .timeout(.response): ("timeout", "Timed out waiting for the response")
        case .timeout(.body): ("timeout", "Timed out receiving the body")
        case .timeout(.deadline): ("timeout", "Timed out at the deadline of the request")
        case .tooSlow: ("slow", "The server sent too slowly")
        case .reset: ("reset", "The connection was lost")
        case .truncated: ("truncated", "The body ended early")
        case .status(let code): ("http-\(code)", "The server answered \(code)")
        case .tooLarge: ("too-large", "The body is larger than permitted")
        case .headersTooLarge: ("headers", "The response headers are larger than permitted")
        case .badEncoding: ("encoding", "The body's content encoding cannot be decoded")
        case .protocolError: ("protocol", "The server broke the rules of HTTP")
        case .unexpectedContent: ("content", "The body is not what was asked for")
        case .throttled: ("throttled", "The host had to rest or was busy for too long")
        case .cancelled: ("cancelled", "Cancelled")
        case .storage: ("storage", "The body could not be stored")
        case .systemLimit: ("limit", "This machine lacks what a fetch needs")
        case .engine: ("engine", "The HTTP engine failed")
        }
    }
}

extension FetchError.Kind {
    /// The kind of this class name, or one of several that share it; nil for a name that this version does not know.
    package init?(className: String) {
        if className.hasPrefix("http-"), let status = Int(className.dropFirst(5)), (100...999).contains(status) {
            self = .status(status)
        } else if let kind = Self.byClassName[className] {
            self = kind
        } else {
            return nil
        }
    }

    /// The kind of this class name whose sentence begins the message. Some kinds share a class: a timeout has five phases.
    package init?(className: String, message: String) {
        let kind = Self.sharing.first { $0.className == className && message.hasPrefix($0.sentence + " (") } ?? Self(className: className)
        guard let kind else { return nil }
        self = kind
    }

    /// All class names except those of statuses, which are `http-` and the number.
    package static let classNames: [String] = named.map(\.className)

    /// One of each class.
    private static let named: [Self] = [
        .invalidURL, .invalidRequest, .refusedAddress, .disallowed, .refusedRedirect, .tooManyRedirects, .dns(.noSuchName),
        .dns(.nobodyAnswers),
        .dns(.serverFailed), .connect, .proxy, .tls, .timeout(.response), .tooSlow, .reset, .truncated, .tooLarge, .headersTooLarge,
        .badEncoding, .protocolError, .unexpectedContent, .throttled, .cancelled, .storage, .systemLimit, .engine,
    ]

    /// The kinds of classes that several share, without the ones above.
    private static let sharing: [Self] = [.dns(.noAddress), .timeout(.resolve), .timeout(.connect), .timeout(.body), .timeout(.deadline)]

    private static let byClassName = Dictionary(uniqueKeysWithValues: named.map { ($0.className, $0) })
}
