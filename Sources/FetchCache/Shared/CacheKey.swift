package import HTTPEngine

/// What an answer is kept under: the URL in canonical form and all that a caller may send with it to get another one.
///
/// Every header that a caller adds is part of the key, so an answer's `Vary` needs no second look: what it may name was either sent and
/// is in the key, or is the same in all our requests.
package struct CacheKey: Sendable, Hashable {
    /// 16 bytes; of a URL without extras the same as a queue knows it by.
    package let id: [UInt8]

    package init(id: [UInt8]) { self.id = id }

    package init(_ url: CanonicalURL, headers: [HeaderField] = [], userAgent: String? = nil) {
        guard !headers.isEmpty || userAgent != nil else {
            id = url.id
            return
        }
        // With lengths in front, no two different rows run together into one text.
        let lines = headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted() + [userAgent.map { "user-agent: \($0)" } ?? ""]
        let text = ([url.text] + lines).map { "\($0.utf8.count):\($0)" }.joined()
        id = Array(SHA256Digest(of: text.utf8).bytes.prefix(16))
    }
}
