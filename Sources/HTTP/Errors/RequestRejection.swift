/// Why a text that somebody wrote is no URL that can be fetched, or no header that can be sent.
///
/// Its description is the second half of a sentence. Of a header it repeats no value, nor a text that may be one.
package struct RequestRejection: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    private init(_ description: String) { self.description = description }

    // MARK: URLs

    static let empty = Self("it is empty")
    static let notUTF8 = Self("it is not UTF-8")
    package static let noScheme = Self("it must begin with http:// or https://")
    static let noHost = Self("it names no host")
    static let badHost = Self("its host is not a valid name or address")
    static let badPort = Self("its port must be a number up to 65535")
    /// An IPv6 address with a zone (`%25eth0`).
    static let interfaceZone = Self("its address names an interface of this machine")
    static let controlInCredentials = Self("its user or password has a control character")

    static func tooLong(bytes: Int) -> Self { Self("it is \(bytes) bytes long and the limit is \(CanonicalURL.maximumLength)") }

    static func unsupportedScheme(_ scheme: String) -> Self {
        Self("only http and https are fetched, not '\(scheme.escapedForDisplay)'")
    }

    /// A space, a tab or another byte that must be escaped in a URL; `offset` counts bytes from 0.
    static func forbiddenByte(_ byte: UInt8, offset: Int, in part: Part) -> Self {
        let place = "after \(offset.of("byte"))\(part.rawValue)"
        guard byte == 0x20 else { return Self("there is a control character (\(byte)) \(place)") }
        return Self("there is a space \(place)\(part == .other ? "; write it as %20" : "")")
    }

    /// A part of a URL, by what may be escaped in it.
    enum Part: String {
        /// With the slashes behind it.
        case scheme = ", before its host"
        /// With its port.
        case host = ", in its host name, which cannot have one"
        /// User and password, path and query, where any byte may stand as an escape.
        case other = ""
    }

    // MARK: Headers

    static let noColon = Self("it has no colon; write 'Name: value'")
    static let badHeaderName = Self(
        "the text before its colon is no header's name, which is made of letters, digits and dashes, without blanks")

    static func noHeaderValue(name: String) -> Self { Self("'\(name)' has no value") }

    static func controlCharacters(name: String) -> Self { Self("the value of '\(name)' has a line break or another control character") }

    static func headerTooLong(name: String, limit: Int) -> Self { Self("the value of '\(name)' has more than \(limit) bytes") }

    static func ownedByEngine(name: String) -> Self {
        let advice = name.lowercased() == "proxy-authorization" ? "; a proxy's user and password stand in its URL" : ""
        return Self("'\(name)' is set by gannet itself\(advice)")
    }

    static func partOrNews(name: String) -> Self {
        Self("'\(name)' asks for a part of the body, or whether it has changed; only whole bodies are fetched")
    }
}
