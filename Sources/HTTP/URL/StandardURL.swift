/// An http or https URL as the WHATWG URL standard reads and writes it, without its fragment.
///
/// The standard permits more than can be fetched: `CanonicalURL` decides on that.
package struct StandardURL: Sendable, Hashable {
    /// The standard's serialisation. All of it is ASCII.
    package let text: String
    let isSecure: Bool
    /// Nil when it is the scheme's own.
    let port: Int?
    let offsets: Offsets

    /// Where the parts begin in the text, in bytes.
    struct Offsets: Hashable {
        var host = 0
        var hostEnd = 0
        var path = 0
        /// Of the question mark.
        var query: Int?
    }

    /// - Parameter base: The URL that a relative text refers to.
    /// - Throws: Why the text is no http or https URL.
    package init(parsing text: [UInt8], base: StandardURL? = nil) throws(RequestRejection) {
        self = try URLParser.parse(text, base: base)
    }

    init(text: String, isSecure: Bool, port: Int?, offsets: Offsets) {
        self.text = text
        self.isSecure = isSecure
        self.port = port
        self.offsets = offsets
    }

    /// `http://` or `https://`.
    private var schemeEnd: Int { isSecure ? 8 : 7 }

    /// User and password as the text has them; nil without both.
    var credentials: String? { offsets.host == schemeEnd ? nil : part(schemeEnd..<offsets.host - 1) }

    /// The host without its port. An IPv6 address stands in brackets.
    var host: String { part(offsets.host..<offsets.hostEnd) }

    /// The host, and its port unless that is the scheme's own.
    var authority: String { part(offsets.host..<offsets.path) }

    /// Everything before the path.
    var origin: String { part(0..<offsets.path) }

    /// The path and the query.
    var pathAndQuery: String { part(offsets.path..<text.utf8.count) }

    /// The same URL with other credentials, which are escaped already, or with none.
    func with(credentials: String?) -> StandardURL {
        let start = text.utf8.prefix(schemeEnd)
        let userInfo = credentials.map { "\($0)@" } ?? ""
        let shift = schemeEnd + userInfo.utf8.count - offsets.host
        var moved = offsets
        moved.host += shift
        moved.hostEnd += shift
        moved.path += shift
        moved.query = offsets.query.map { $0 + shift }
        let rest = part(offsets.host..<text.utf8.count)
        return StandardURL(text: "\(Substring(start))\(userInfo)\(rest)", isSecure: isSecure, port: port, offsets: moved)
    }

    private func part(_ range: Range<Int>) -> String {
        let bytes = text.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: range.lowerBound)
        return String(text[start..<bytes.index(start, offsetBy: range.count)])
    }
}
