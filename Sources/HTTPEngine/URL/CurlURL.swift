import CCurl
internal import GannetBasics

/// One URL in libcurl's parser.
struct CurlURL: ~Copyable {
    private let handle: OpaquePointer

    init() {
        guard let handle = curl_url() else { fatalError("libcurl has no memory for a URL.") }
        self.handle = handle
    }

    deinit { curl_url_cleanup(handle) }

    borrowing func set(_ url: String) throws(RequestRejection) {
        let code = curl_url_set(handle, CURLUPART_URL, url, 0)
        guard code == CURLUE_OK else { throw Self.rejection(code, of: url) }
    }

    /// Follows the `Location` of this URL's answer. Bytes that must not stand in a URL are escaped, as browsers do.
    borrowing func follow(_ location: [UInt8]) throws(RequestRejection) {
        guard !location.contains(0) else { throw .forbiddenByte(0, offset: location.firstIndex(of: 0) ?? 0, in: .other) }
        let code = (location + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                curl_url_set(handle, CURLUPART_URL, text.baseAddress, UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE))
            }
        }
        guard code == CURLUE_OK else { throw Self.rejection(code, of: String(decoding: location.prefix(64), as: UTF8.self)) }
    }

    /// Sets a part as it stands in a URL; nil removes it.
    borrowing func set(_ part: CURLUPart, _ text: String?) throws(RequestRejection) {
        let code = curl_url_set(handle, part, text, 0)
        guard code == CURLUE_OK else { throw Self.rejection(code, of: "") }
    }

    /// The whole URL.
    borrowing func text() throws(RequestRejection) -> String { try get(CURLUPART_URL) ?? "" }

    /// A part as it stands in the URL; nil when it has none, or its port is the scheme's own.
    borrowing func get(_ part: CURLUPart) throws(RequestRejection) -> String? {
        try get(part, flags: UInt32(CURLU_NO_DEFAULT_PORT))
    }

    /// The host with its escapes decoded and in ASCII.
    borrowing func host() throws(RequestRejection) -> String? {
        guard let host = try get(CURLUPART_HOST) else { return nil }
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return host }
        // libidn2 reads the name in the encoding of the thread's locale, which in a Swift program is ASCII.
        let ascii = try ThreadLocale.withUTF8 { () throws(RequestRejection) in
            try get(CURLUPART_HOST, flags: gannet_url_punycode_flag())
        }
        guard let ascii, ascii.utf8.allSatisfy({ $0 < 0x80 }) else { throw .badHost }
        return ascii
    }

    /// User and password, joined by a colon also when there is only one; nil when there is neither.
    borrowing func credentials() throws(RequestRejection) -> String? {
        let user = try get(CURLUPART_USER) ?? ""
        let password = try get(CURLUPART_PASSWORD) ?? ""
        guard !user.isEmpty || !password.isEmpty else { return nil }
        // A browser would take it for the end of the host.
        guard !"\(user)\(password)".utf8.contains(UInt8(ascii: "\\")) else {
            throw .malformed("its user or password has a backslash; write it as %5C")
        }
        // They are sent without escapes, among which libcurl refuses control characters.
        for part in [CURLUPART_USER, CURLUPART_PASSWORD] { _ = try get(part, flags: UInt32(CURLU_URLDECODE)) }
        return PercentEncoding.normalized("\(user):\(password)", in: .userInfo)
    }

    private borrowing func get(_ part: CURLUPart, flags: UInt32) throws(RequestRejection) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = curl_url_get(handle, part, &text, flags)
        defer { curl_free(text) }
        switch code {
        case CURLUE_OK: return text.map { String(cString: $0) }
        case CURLUE_NO_SCHEME, CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_HOST, CURLUE_NO_PORT, CURLUE_NO_QUERY, CURLUE_NO_ZONEID:
            return nil
        default: throw part == CURLUPART_HOST ? .badHost : Self.rejection(code, of: "")
        }
    }

    private static func rejection(_ code: CURLUcode, of url: String) -> RequestRejection {
        switch code {
        case CURLUE_BAD_PORT_NUMBER: return .badPort
        case CURLUE_NO_HOST, CURLUE_BAD_SLASHES: return .noHost
        case CURLUE_BAD_HOSTNAME, CURLUE_BAD_IPV6: return .badHost
        case CURLUE_UNSUPPORTED_SCHEME, CURLUE_BAD_SCHEME, CURLUE_BAD_FILE_URL, CURLUE_NO_SCHEME:
            let scheme = url.prefix { $0 != ":" }
            // "localhost:8080/x" has no scheme, "mailto:someone" does; only the latter deserves to be quoted.
            guard !scheme.isEmpty, scheme.count < url.count, scheme.allSatisfy({ $0.isASCII && $0.isLetter }), scheme.count <= 16,
                url.dropFirst(scheme.count + 1).first?.isNumber != true
            else { return .noScheme }
            return .unsupportedScheme(scheme.lowercased())
        default: return .malformed(String(cString: curl_url_strerror(code)))
        }
    }
}

/// The calling thread's locale.
enum ThreadLocale {
    /// Runs the body with UTF-8 as the thread's encoding. Where the system has no such locale, the encoding stays.
    ///
    /// The process's locale is left alone: it belongs to the program that uses this library.
    static func withUTF8<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard let locale = utf8.locale else { return try body() }
        let before = uselocale(locale)
        defer { uselocale(before) }
        return try body()
    }

    /// Made once: making it takes longer than everything else that a URL costs.
    private static let utf8 = Shared(locale: newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) ?? newlocale(LC_CTYPE_MASK, "en_US.UTF-8", nil))

    /// Threads may share a locale that nobody changes or frees.
    private struct Shared: @unchecked Sendable {
        let locale: locale_t?
    }
}
