/// An answer's own words about itself, as a folder's record keeps them: where it came from, and how old it was.
package struct AnswerFacts: Sendable, Equatable {
    /// When the answer was there, in ms since 1970; 0 for an answer of which that is not known.
    package var fetchedAt = 0
    /// The URL that answered; empty where it is the one that was asked.
    package var finalURL = ""
    package var entityTag = ""
    package var lastModified = ""
    package var cacheControl = ""
    package var expires = ""
    package var age = ""

    package init() {}

    /// Whether the origin can be asked if the body has changed since.
    var hasConditions: Bool { !entityTag.isEmpty || !lastModified.isEmpty }
}

extension AnswerFacts {
    /// Longer texts are no facts. A tag that was cut would be another tag.
    private static let longest = 512
    private static let longestURL = 4096

    /// - Parameters:
    ///   - url: The URL that was asked, without user and password.
    ///   - finalURL: The URL that answered, without user and password.
    ///   - header: The value of a header of the answer.
    package init(at fetchedAt: Int, of url: String, from finalURL: String, header: (String) -> String?) {
        self.fetchedAt = fetchedAt
        if finalURL != url, finalURL.utf8.count <= Self.longestURL { self.finalURL = finalURL }
        func fact(_ name: String) -> String {
            guard let value = header(name), value.utf8.count <= Self.longest, value.utf8.allSatisfy({ 0x20...0x7e ~= $0 })
            else { return "" }
            return value
        }
        (entityTag, lastModified) = (fact("etag"), fact("last-modified"))
        (cacheControl, expires, age) = (fact("cache-control"), fact("expires"), fact("age"))
    }
}
