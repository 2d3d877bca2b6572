import HTTPEngine

extension FuzzTarget {
    /// The input is the `Location` of an answer.
    static let redirects = FuzzTarget(name: "redirects", maximumLength: 512) {
        [
            "/b", "../c?d", "//other.example/", "https://origin.example/x", "http://origin.example:80/", "HTTPS://ORIGIN.EXAMPLE:443/a#f",
            "http://me:too@origin.example/", "http://me:too@other.example/", "ftp://other.example/",
            "http://origin.example\\@other.example/",
            "http:/origin.example/", "https:b", "?q", "#f", "javascript:alert(1)", "/a b\tc", "http://origin.example.evil.example/",
            "http://[::1]:8443/%2e%2e/", "/\u{e9}", "https://Ｏrigin.example/",
        ].map { Array($0.utf8) }
    } check: { (input) throws(BrokenInvariant) in
        for (origin, credentials) in [("https://user:pass@origin.example:8443/a/b?c", "user:pass@"), ("http://origin.example/a/", "")] {
            guard let here = try? RequestTarget(origin) else { throw BrokenInvariant(description: "\(origin) is refused") }
            guard let next = try? here.following(input) else { continue }
            try check(next, from: here, credentials)
        }
    }

    private static func check(_ next: RequestTarget, from here: RequestTarget, _ credentials: String) throws(BrokenInvariant) {
        let url = next.url.debugDescription
        guard let canonical = try? CanonicalURL(next.url) else { throw BrokenInvariant(description: "\(url) is refused") }
        try require((try? RequestTarget(next.url)) == next, "\(url) read again is another")
        try require(canonical.hostName == next.host, "\(url) has another host than \(next.host)")
        try require(canonical.text.hasPrefix(next.isSecure ? "https://" : "http://"), "\(url) has another scheme")
        try require(!next.url.contains("#"), "\(url) has a fragment")
        let authority = canonical.text.dropFirst(next.isSecure ? 8 : 7).prefix { $0 != "/" }
        guard here.trusts(next) else {
            try require(!authority.contains("@"), "\(url) shows our credentials to another, or another's to a third")
            return
        }
        try require(authority == credentials + canonical.host, "\(url) has other credentials than \(credentials)")
        try require(next.host == here.host && (next.isSecure || !here.isSecure), "\(url) is trusted")
    }
}
