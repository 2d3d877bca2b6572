import GannetHTTP

extension FuzzTarget {
    /// The input is the `Location` of an answer.
    static let redirects = FuzzTarget(name: "redirects", maximumLength: 512) {
        [
            "/b", "../c?d", "//other.example/", "https://origin.example/x", "http://origin.example:80/", "HTTPS://ORIGIN.EXAMPLE:443/a#f",
            "http://me:too@origin.example/", "http://me:too@other.example/", "ftp://other.example/",
            "http://origin.example\\@other.example/",
            "http:/origin.example/", "https:b", "?q", "#f", "javascript:alert(1)", "/a b\tc", "http://origin.example.evil.example/",
            "http://[::1]:8443/%2e%2e/", "/\u{e9}", "https://Ｏrigin.example/", "\\\\other.example\\..//g", "http:\\x?", "//1.2.3.4.:0/",
        ].map { Array($0.utf8) }
    } check: { (input) throws(BrokenInvariant) in
        for (origin, credentials) in [("https://user:pass@origin.example:8443/a/b?c", "user:pass@"), ("http://origin.example/a/", "")] {
            guard let here = try? CanonicalURL(origin) else { throw BrokenInvariant(description: "\(origin) is refused") }
            guard let next = try? here.following(input) else { continue }
            try check(next, from: here, credentials)
        }
    }

    private static func check(_ next: CanonicalURL, from here: CanonicalURL, _ credentials: String) throws(BrokenInvariant) {
        let url = next.text.debugDescription
        try require((try? CanonicalURL(next.text)) == next, "\(url) read again is another")
        try require((try? here.following(Array(next.text.utf8))) == next, "\(url) as a location leads elsewhere")
        try require(next.text.hasPrefix(next.isSecure ? "https://" : "http://"), "\(url) has another scheme")
        try require(!next.text.contains("#"), "\(url) has a fragment")
        let authority = next.text.dropFirst(next.isSecure ? 8 : 7).prefix { $0 != "/" }
        guard here.trusts(next) else {
            try require(!authority.contains("@"), "\(url) shows our credentials to another, or another's to a third")
            return
        }
        try require(authority == credentials + next.host, "\(url) has other credentials than \(credentials)")
        try require(next.hostName == here.hostName && (next.isSecure || !here.isSecure), "\(url) is trusted")
    }
}
