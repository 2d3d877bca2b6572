/// A content coding that can be undone here.
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// By its name in a header, in small letters; `x-gzip` is gzip's name from before it was registered.
    package init?(name: String) {
        guard let coding = name == "x-gzip" ? .gzip : Self(rawValue: name) else { return nil }
        self = coding
    }
}
