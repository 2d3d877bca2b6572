package import ClusterState
internal import HTTPCaching
package import HTTPEngine

/// A URL as it is asked for: in its canonical form, and with the headers that make it another request.
package struct RequestedURL: Sendable {
    /// Equal URLs have equal text. Without credentials.
    package let canonical: String

    /// The same for jobs and for callers of the library.
    package let id: URLID

    /// Without a port.
    package let host: String
    package let headers: RequestHeaders

    /// - Throws: A usage error for a text that is no URL.
    package init(_ url: String, headers: RequestHeaders = .none) throws(StateError) {
        do {
            self.init(try CanonicalURL(url), headers)
        } catch {
            throw .invalid("This is no URL that can be fetched: \(error).")
        }
    }

    private init(_ url: CanonicalURL, _ headers: RequestHeaders) {
        guard let id = URLID(CacheKey(url, headers: headers.fields).id) else { preconditionFailure("A cache key has 16 bytes.") }
        canonical = url.description
        self.id = id
        host = url.hostName
        self.headers = headers
    }
}

extension RequestedURL {
    /// A row of an input. Throws why the row is no URL.
    fileprivate init(row: ArraySlice<UInt8>, headers: RequestHeaders) throws { self.init(try CanonicalURL(bytes: row), headers) }
}

extension JobEntry {
    /// The job of a row of an input, when it is to be fetched with these headers. Throws why the row becomes no job.
    package init(row: ArraySlice<UInt8>, headers: RequestHeaders = .none) throws {
        let url = try RequestedURL(row: row, headers: headers)
        try self.init(id: url.id, host: url.host, url: String(decoding: row, as: UTF8.self))
    }
}

extension RequestHeaders {
    /// As the engine sends them.
    package var fields: [HeaderField] { lines.compactMap { HeaderField(name: $0.name, value: $0.value) } }

    /// - Throws: A usage error for more than a batch's record holds.
    package init(_ fields: [HeaderField]) throws(StateError) { try self.init(fields.map { Line(name: $0.name, value: $0.value) }) }
}
