internal import GannetHTTP

extension Problem {
    /// A URL could not be fetched.
    init(_ error: FetchError) {
        self.init(Self.status(of: error.kind), error.className, error.description)
        url = error.url.description
        if case .status(let status) = error.kind { originStatus = status }
        if let pause = error.retryAfter { headers.append(Self.retryAfter(pause)) }
    }

    /// The statuses tell apart who is to blame: 4xx the request or the URL, 502 and 504 the origin, 503 this gateway at this moment.
    private static func status(of kind: FetchError.Kind) -> Int {
        switch kind {
        case .invalidURL, .invalidRequest: 400
        case .refusedAddress, .disallowed, .refusedRedirect: 403
        case .tooLarge: 413
        case .unexpectedContent: 415
        // These say something of the URL. Other statuses of the origin would be misread as ours: a 401 or a 403 is about the origin's rules.
        case .status(let status) where [404, 410, 451].contains(status): status
        case .status(429), .status(503), .throttled: 503
        case .status(504), .timeout, .tooSlow: 504
        case .cancelled, .systemLimit: 503
        case .storage, .engine: 500
        case .tooManyRedirects, .dns, .connect, .proxy, .tls, .reset, .truncated, .status, .headersTooLarge, .badEncoding, .protocolError:
            502
        }
    }
}
