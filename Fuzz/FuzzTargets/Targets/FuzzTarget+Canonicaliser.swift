import GannetHTTP

extension FuzzTarget {
    /// The input is a URL.
    static let canonicaliser = FuzzTarget(name: "canonicaliser", maximumLength: 512) {
        [
            "HTTP://User:p%40w@ExAmple.COM:0080/a/%2e%2E/b/./c;d?q=%41&r=%2f#f", "http://BÜCHER.example/é?ü",
            "https://[2001:DB8::0:1]:443/",
            "http://[::ffff:127.0.0.1]:8080/%%34%31", "http://0x7f.1/", "http://%31%32%37.1/a//../b", "http://１２７。1/", "http:///h?a#b",
            "http://h/\"<>^`{}|\\", "http://a.b./..%2f/%00%ff", "http://xn--bcher-kva.example/%2%65", "http://[fe80::1%25eth0]/",
            "http://u@h/?a='b'&c=d+e%20f", "http://a\u{ad}b℀c/", "http://h/%e9%c3%28",
            " http:\\\\h\\..\\a ", "http:h:0", "http://u@v:w@1.2.3.4./?#", "http://xn--a.b/", "http://क्\u{200d}ष--.com/",
        ].map { Array($0.utf8) }
    } check: { (input) throws(BrokenInvariant) in
        guard let url = String(validating: input, as: UTF8.self) else {
            try require((try? CanonicalURL(bytes: input)) == nil, "what is not UTF-8 was accepted")
            return
        }
        if let standard = try? CanonicalURL(standard: input) {
            let text = standard.text.debugDescription
            try require((try? CanonicalURL(standard: Array(standard.text.utf8))) == standard, "\(text) read again is another")
            try require((try? CanonicalURL(standard: [], base: standard)) == standard, "no reference leads away from \(text)")
        }
        let canonical = try? CanonicalURL(bytes: input)
        try require(canonical == (try? CanonicalURL(parsing: input)), "the parser reads \(url.debugDescription) in another way")
        guard let canonical else { return }
        try checkForm(of: canonical)
        try require((try? CanonicalURL(canonical.text)) == canonical, "\(canonical.text.debugDescription) read again is another")
        try checkEquals(of: url, canonical)
    }

    private static func checkForm(of canonical: CanonicalURL) throws(BrokenInvariant) {
        let text = canonical.text
        let form = text.debugDescription
        try require(text.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7f && $0 != UInt8(ascii: "#") }, "\(form) has a forbidden byte")
        try require(text.utf8.count <= CanonicalURL.maximumLength, "\(form) is too long")
        try require(text.hasPrefix("http://") || text.hasPrefix("https://"), "\(form) has another scheme")
        let rest = text[text.firstRange(of: "://")!.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        try require(host == canonical.host, "\(form) reads as another host than \(canonical.host)")
        try require(rest.dropFirst(authority.count).first == "/", "\(form) has no path")
        let name = canonical.hostName
        try require(!name.isEmpty && canonical.host.hasPrefix(name), "\(form) has no host's name")
        try require(name == name.lowercased() && !name.contains { "%/\\@#?<>^| ".contains($0) }, "the host's name \(name) is none")
        try require(name.first == "[" || !name.contains(":"), "the host's name \(name) is none")
        // A redacted URL has no text before the host, and is cut after 300 characters.
        let redacted = canonical.description
        let beginning = (text.prefix { $0 != ":" } + "://" + host).prefix(300)
        try require(redacted.hasPrefix(beginning), "\(redacted) shows more than \(host)")
    }

    /// A change without effect on the request must not change the form.
    private static func checkEquals(of url: String, _ canonical: CanonicalURL) throws(BrokenInvariant) {
        var others = [canonical.text.prefix { $0 != ":" }.uppercased() + canonical.text.drop { $0 != ":" }, canonical.text + "#x"]
        if url.utf8.count + 2 <= CanonicalURL.maximumLength { others.append(url + "#x") }
        for other in others {
            guard other.utf8.count <= CanonicalURL.maximumLength else { continue }
            try require((try? CanonicalURL(other)) == canonical, "\(other.debugDescription) is not \(canonical.text.debugDescription)")
        }
    }
}
