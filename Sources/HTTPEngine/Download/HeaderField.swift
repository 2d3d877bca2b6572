/// A request header that can be sent as it is: no line breaks, and none of those by which HTTP frames a message.
public struct HeaderField: Sendable, Hashable {
    public let name: String
    public let value: String

    /// Nil when the name is not a token, is the engine's to set, or the value has control characters.
    public init?(name: String, value: String) {
        guard !name.isEmpty, name.utf8.count <= 256, value.utf8.count <= 8192, name.utf8.allSatisfy(\.isTokenByte),
            value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }), !Self.ownedByEngine.contains(name.lowercased())
        else { return nil }
        self.name = name
        self.value = value
    }

    /// The line in libcurl's notation, in which a semicolon asks for a header with an empty value.
    var curlLine: String {
        value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? "\(name);" : "\(name): \(value)"
    }

    private static let ownedByEngine: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension UInt8 {
    /// RFC 9110's tchar: what the names of headers, and words in their values, are made of.
    package var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
