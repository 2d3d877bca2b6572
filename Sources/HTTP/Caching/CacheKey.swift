/// The key of a kept answer: the URL in canonical form, and everything a caller may send with it to get another answer.
///
/// Every header that a caller adds is part of the key, and so is a `User-Agent` of the fetcher's own. So the names in an answer's `Vary`
/// choose nothing: such a header is either part of the key, or the same in all requests.
package struct CacheKey: Sendable, Hashable {
    /// 16 bytes. Without extra headers it is the id that a queue uses for the URL.
    package let id: [UInt8]

    package init(id: [UInt8]) { self.id = id }

    package init(_ url: CanonicalURL, headers: [HeaderField] = [], userAgent: String? = nil) {
        guard !headers.isEmpty || userAgent != nil else {
            id = url.id
            return
        }
        // The lengths keep two different lists from becoming the same text.
        let lines = Self.inOrder(headers).map { "\($0.name): \($0.value)" } + [userAgent.map { "user-agent: \($0)" } ?? ""]
        let text = ([url.text] + lines).map { "\($0.utf8.count):\($0)" }.joined()
        id = Array(SHA256Digest(of: text.utf8).bytes.prefix(16))
    }

    /// The order of different names and their case mean nothing. The order of several values of one name does.
    private static func inOrder(_ headers: [HeaderField]) -> [(name: String, value: String)] {
        headers.enumerated().map { (place: $0.offset, name: $0.element.name.lowercased(), value: $0.element.value) }
            .sorted { ($0.name, $0.place) < ($1.name, $1.place) }
            .map { ($0.name, $0.value) }
    }
}
