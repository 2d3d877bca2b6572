package import GannetHTTP
package import GannetQueue

/// A URL to fetch: its canonical form, and the headers of the request. Other headers make another request of the same URL.
package struct RequestedURL: Sendable {
    private let url: CanonicalURL

    /// The canonical form without credentials. Equal URLs have equal text.
    package var canonical: String { url.description }

    /// The id of the request, which is the same for jobs and for callers of the library.
    package let id: URLID

    /// The host's name or address, with its port unless that is the scheme's own.
    package let host: String
    package let headers: RequestHeaders

    /// The requests have headers that are not known here.
    package let hasOtherHeaders: Bool

    /// - Throws: A usage error for a text that is no URL.
    package init(_ url: String, headers: RequestHeaders = .none) throws(StateError) {
        do {
            self.init(try CanonicalURL(url), headers)
        } catch {
            throw .invalid("This is no URL that can be fetched: \(error).")
        }
    }

    /// A URL as Redis knows it. The headers of its requests are not known.
    package init(known match: (id: URLID, url: String)) throws(StateError) {
        let url = try Self(match.url)
        self.url = url.url
        host = url.host
        hasOtherHeaders = url.id != match.id
        id = match.id
        headers = .none
    }

    private init(_ url: CanonicalURL, _ headers: RequestHeaders) {
        let fields = headers.lines.isEmpty ? [] : headers.fields
        guard let id = URLID(CacheKey(url, headers: fields).id) else { preconditionFailure("A cache key has 16 bytes.") }
        self.url = url
        self.id = id
        host = url.host
        self.headers = headers
        hasOtherHeaders = false
    }
}

extension RequestedURL {
    /// The host of a text that people gave in the place of a host, where it is a URL, with or without its scheme.
    package static func host(ofURL text: String) -> String? { (try? Self(text.contains("://") ? text : "http://\(text)"))?.host }

    /// A host as people name it, such as `Example.com:8080` or `::1`, in the form that jobs have it. Nil for another text.
    package static func host(named text: String) -> String? {
        guard !text.isEmpty, !text.utf8.contains(where: { "/?#@*\\".utf8.contains($0) }) else { return nil }
        // An IPv6 address has colons, as a host with a port does.
        let literal = text.utf8.count { $0 == UInt8(ascii: ":") } > 1 && !text.hasPrefix("[") ? "[\(text)]" : text
        return host(ofURL: "\(literal.hasSuffix(":443") ? "https" : "http")://\(literal)/")
    }

    /// Reads a row of an input. Throws why the row is not a URL.
    fileprivate init(row: ArraySlice<UInt8>, headers: RequestHeaders) throws { self.init(try CanonicalURL(bytes: row), headers) }
}

extension JobEntry {
    /// Makes a job from a row of an input, which is fetched with these headers. Throws why the row cannot become a job.
    package init(row: ArraySlice<UInt8>, headers: RequestHeaders = .none) throws {
        let url = try RequestedURL(row: row, headers: headers)
        try self.init(id: url.id, host: url.host, url: String(decoding: row, as: UTF8.self))
    }
}

extension RequestHeaders {
    /// The headers in the form in which the engine sends them.
    package var fields: [HeaderField] { lines.compactMap { HeaderField(name: $0.name, value: $0.value) } }

    /// - Throws: A usage error if the headers do not fit into a batch's record.
    package init(_ fields: [HeaderField]) throws(StateError) { try self.init(fields.map { Line(name: $0.name, value: $0.value) }) }
}
