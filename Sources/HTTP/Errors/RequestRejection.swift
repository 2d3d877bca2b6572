/// Why a text that somebody wrote is no URL that can be fetched, or no header that can be sent.
///
/// Its description is the second half of a sentence. Of a header it repeats no value, nor a text that may be one.
package enum RequestRejection: Error, Sendable, Hashable {
    // MARK: URLs

    case empty
    case tooLong(bytes: Int)
    case notUTF8
    /// A space, a tab or another byte that must be escaped in a URL; `offset` counts bytes from 0.
    case forbiddenByte(UInt8, offset: Int, in: Part)
    case noScheme
    case unsupportedScheme(String)
    case noHost
    case badHost
    case badPort
    /// An IPv6 address with a zone (`%25eth0`), which names an interface of this machine.
    case interfaceZone
    /// An escaped control character in the user or the password.
    case controlInCredentials

    /// A part of a URL, by what may be escaped in it.
    package enum Part: Sendable, Hashable {
        /// With the slashes behind it.
        case scheme
        /// With its port.
        case host
        /// User and password, path and query, where any byte may stand as an escape.
        case other
    }

    // MARK: Headers

    case noColon
    case badHeaderName
    case noHeaderValue(name: String)
    case controlCharacters(name: String)
    case headerTooLong(name: String, limit: Int)
    case ownedByEngine(name: String)
    case partOrNews(name: String)
}

extension RequestRejection: CustomStringConvertible {
    package var description: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong(let bytes): "it is \(bytes) bytes long and the limit is \(CanonicalURL.maximumLength)"
        case .notUTF8: "it is not UTF-8"
        case .forbiddenByte(0x20, let offset, .other): "there is a space after \(offset.of("byte")); write it as %20"
        case .forbiddenByte(let byte, let offset, let part):
            "there is a \(byte == 0x20 ? "space" : "control character (\(byte))") after \(offset.of("byte"))\(part.place)"
        case .noScheme: "it must begin with http:// or https://"
        case .unsupportedScheme(let scheme): "only http and https are fetched, not '\(scheme.escapedForDisplay)'"
        case .noHost: "it names no host"
        case .badHost: "its host is not a valid name or address"
        case .badPort: "its port must be a number up to 65535"
        case .interfaceZone: "its address names an interface of this machine"
        case .controlInCredentials: "its user or password has a control character"
        case .noColon: "it has no colon; write 'Name: value'"
        case .badHeaderName:
            "the text before its colon is no header's name, which is made of letters, digits and dashes, without blanks"
        case .noHeaderValue(let name): "'\(name)' has no value"
        case .controlCharacters(let name): "the value of '\(name)' has a line break or another control character"
        case .headerTooLong(let name, let limit): "the value of '\(name)' has more than \(limit) bytes"
        case .ownedByEngine(let name):
            "'\(name)' is set by gannet itself"
                + (name.lowercased() == "proxy-authorization" ? "; a proxy's user and password stand in its URL" : "")
        case .partOrNews(let name): "'\(name)' asks for a part of the body, or whether it has changed; only whole bodies are fetched"
        }
    }
}

extension RequestRejection.Part {
    fileprivate var place: String {
        switch self {
        case .scheme: ", before its host"
        case .host: ", in its host name, which cannot have one"
        case .other: ""
        }
    }
}
