package import HTTPEngine

/// What a cache has to know of a request. Its method is GET.
package struct RequestFacts: Sendable, Hashable {
    /// As it is requested.
    package let url: String
    /// Those the caller adds, and the engine's `User-Agent` where it may differ between machines.
    package let headers: [HeaderField]
    /// Whether it says who asks: `Authorization`, a cookie, an API key, a password in the URL. The answer may then be for that one alone.
    package let hasCredentials: Bool
    /// Whether it asks for a part, or only for news: what is kept is the whole, and no answer to that.
    let isSpecial: Bool
    package let control: CacheControl

    package init(url: String, headers: [HeaderField] = []) {
        self.url = url
        self.headers = headers
        hasCredentials = headers.contains(where: \.isCredential) || RedactedURL.withoutUserInfo(url) != url
        isSpecial = headers.contains(where: \.asksForPartOrNews)
        control = CacheControl(request: headers)
    }
}
