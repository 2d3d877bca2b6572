/// Why a text is not a URL that can be fetched.
package enum URLRejection: Error, Sendable, Hashable {
    case empty
    case tooLong(bytes: Int)
    case notUTF8
    /// A space, a tab or another byte that must be escaped in a URL; `offset` counts bytes from 0.
    case forbiddenByte(UInt8, offset: Int)
    case noScheme
    case unsupportedScheme(String)
    case noHost
    case badHost
    case badPort
    /// An IPv6 address with a zone (`%25eth0`), which names an interface of this machine.
    case interfaceZone
    /// Anything else libcurl's parser refuses, in its words.
    case malformed(String)
}

extension URLRejection: CustomStringConvertible {
    package var description: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong(let bytes): "it is \(bytes) bytes long and the limit is \(CanonicalURL.maximumLength)"
        case .notUTF8: "it is not UTF-8"
        case .forbiddenByte(0x20, let offset): "there is a space after \(offset.of("byte")); write it as %20"
        case .forbiddenByte(let byte, let offset): "there is a control character (\(byte)) after \(offset.of("byte"))"
        case .noScheme: "it must begin with http:// or https://"
        case .unsupportedScheme(let scheme): "only http and https are fetched, not '\(scheme.escapedForDisplay)'"
        case .noHost: "it names no host"
        case .badHost: "its host is not a valid name or address"
        case .badPort: "its port must be a number from 1 to 65535"
        case .interfaceZone: "its address names an interface of this machine"
        case .malformed(let text): text
        }
    }
}
