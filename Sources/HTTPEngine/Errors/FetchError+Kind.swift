extension FetchError {
    /// The ways in which a fetch fails.
    public enum Kind: Sendable, Hashable {
        /// The text is not an absolute http or https URL that can be requested.
        case invalidURL
        /// The request asks for something that cannot be sent, such as a header that is the engine's own.
        case invalidRequest
        /// Every address of the host is one the address guard refuses.
        case refusedAddress
        /// A redirect led to a URL that cannot be fetched, or to none.
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
        /// The body came encoded, and it cannot be told whether whole.
        case badEncoding
        /// The answer is not HTTP, or breaks its rules.
        case protocolError
        /// The body is not what it should be, such as an image.
        case unexpectedContent
        /// The host kept asking for patience for too long.
        case throttled
        case cancelled
        /// The body could not be written.
        case storage
        /// This machine, or what this process may use of it, is exhausted: no file descriptor is left.
        case systemLimit
        /// The engine itself failed: no memory, a libcurl without a needed feature, a defect.
        case engine
    }

    /// Why a host's name led to no address.
    public enum NameFailure: Sendable, Hashable, CaseIterable {
        /// The name does not exist, and whoever would know has said so.
        case noSuchName
        /// It exists and has no address.
        case noAddress
        /// The name servers answer, but cannot tell about this name.
        case serverFailed
        /// No name server answers at all: that is no fault of the URL's.
        case nobodyAnswers
    }

    /// The part of a transfer in which a timeout struck.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        case resolve, connect, response, body
    }
}

extension FetchError.Kind {

    var className: String {
        switch self {
        case .invalidURL: "invalid-url"
        case .invalidRequest: "invalid-request"
        case .refusedAddress: "refused"
        case .refusedRedirect: "bad-redirect"
        case .tooManyRedirects: "redirects"
        case .dns(.noSuchName): "no-such-host"
        case .dns(.nobodyAnswers): "no-dns"
        case .dns: "dns"
        case .connect: "connect"
        case .proxy: "proxy"
        case .tls: "tls"
        case .timeout: "timeout"
        case .tooSlow: "slow"
        case .reset: "reset"
        case .truncated: "truncated"
        case .status(let code): "http-\(code)"
        case .tooLarge: "too-large"
        case .headersTooLarge: "headers"
        case .badEncoding: "encoding"
        case .protocolError: "protocol"
        case .unexpectedContent: "content"
        case .throttled: "throttled"
        case .cancelled: "cancelled"
        case .storage: "storage"
        case .systemLimit: "limit"
        case .engine: "engine"
        }
    }

    var sentence: String {
        switch self {
        case .invalidURL: "Not a URL that can be fetched"
        case .invalidRequest: "Not a request that can be sent"
        case .refusedAddress: "The address is not public and not permitted"
        case .refusedRedirect: "Redirected to a URL that cannot be fetched"
        case .tooManyRedirects: "Redirected too often"
        case .dns(.noSuchName): "The host name does not exist"
        case .dns(.noAddress): "The host name has no address"
        case .dns(.serverFailed): "The host name could not be resolved"
        case .dns(.nobodyAnswers): "No name server answers"
        case .connect: "Could not connect"
        case .proxy: "The proxy is of no help"
        case .tls: "No trusted TLS connection"
        case .timeout(.resolve): "Timed out resolving the host name"
        case .timeout(.connect): "Timed out connecting"
        case .timeout(.response): "Timed out waiting for the response"
        case .timeout(.body): "Timed out receiving the body"
        case .tooSlow: "The server sent too slowly"
        case .reset: "The connection was lost"
        case .truncated: "The body ended early"
        case .status(let code): "The server answered \(code)"
        case .tooLarge: "The body is larger than permitted"
        case .headersTooLarge: "The response headers are larger than permitted"
        case .badEncoding: "The body's content encoding cannot be decoded"
        case .protocolError: "The server broke the rules of HTTP"
        case .unexpectedContent: "The body is not what was asked for"
        case .throttled: "The host asked for patience for too long"
        case .cancelled: "Cancelled"
        case .storage: "The body could not be stored"
        case .systemLimit: "This machine lacks what a fetch needs"
        case .engine: "The HTTP engine failed"
        }
    }
}
