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
        let lines = Self.inOrder(headers).map { "\($0.name): \($0.value)" } + [userAgent.map { "user-agent: \($0)" } ?? ""]
        let text = ([url.text] + lines).map { "\($0.utf8.count):\($0)" }.joined()
        id = Array(SHA256Digest(of: text.utf8).bytes.prefix(16))
    }

    /// Which of different names comes first means nothing, and neither does their case; which of several values of one does.
    private static func inOrder(_ headers: [HeaderField]) -> [(name: String, value: String)] {
        headers.enumerated().map { (place: $0.offset, name: $0.element.name.lowercased(), value: $0.element.value) }
            .sorted { ($0.name, $0.place) < ($1.name, $1.place) }
            .map { ($0.name, $0.value) }
    }
}
