internal import GannetBase

/// A request header that can be sent as it is: it has no line breaks, and does not frame the message.
package struct HeaderField: Sendable, Hashable {
    package let name: String
    /// Without the blanks around it, which mean nothing.
    package let value: String

    /// Throws when the name is no token or one that the engine sets, or when the value has control characters.
    package init(checking name: String, _ value: String) throws(RequestRejection) {
        let value = value.trimmedOfBlanks
        if let problem = Self.problem(name: name, value: value) { throw problem }
        self.name = name
        self.value = value
    }

    /// Nil when the name is no token or one that the engine sets, or when the value has control characters.
    package init?(name: String, value: String) {
        guard let field = try? HeaderField(checking: name, value) else { return nil }
        self = field
    }

    /// A header as people write it, `Name: value`, for a request of a whole body.
    package init(line: String) throws(RequestRejection) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .noColon }
        try self.init(checking: String(line[..<colon]), String(line[line.utf8.index(after: colon)...]))
        if value.isEmpty { throw .noHeaderValue(name: name) }
        if asksForPartOrNews { throw .partOrNews(name: name) }
    }

    /// The line in libcurl's notation, in which a semicolon asks for a header with an empty value.
    var curlLine: String { value.isEmpty ? "\(name);" : "\(name): \(value)" }

    private static let longestName = 256
    private static let longestValue = 8192

    private static func problem(name: String, value: String) -> RequestRejection? {
        guard !name.isEmpty, name.utf8.count <= longestName, name.utf8.allSatisfy(\.isTokenByte) else { return .badHeaderName }
        if ownedByEngine.contains(name.lowercased()) { return .ownedByEngine(name: name) }
        guard value.utf8.count <= longestValue else { return .headerTooLong(name: name, limit: longestValue) }
        guard value.utf8.allSatisfy(\.isValueByte) else { return .controlCharacters(name: name) }
        return nil
    }
}

/// Headers that a caller may not add, or not to every request.
extension HeaderField {
    /// These headers frame a message, name its host, or say which encodings the engine can read.
    static let ownedByEngine: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// These headers ask for a part of a body, or whether it has changed. The caches keep whole bodies only.
    private static let ofPartsAndNews: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    ]

    package var asksForPartOrNews: Bool { Self.ofPartsAndNews.contains(name.lowercased()) }
}

extension HeaderField {
    /// Whether the header may say who the user is, so that no other origin may see it. Its name decides, and in doubt it is a credential.
    package var isCredential: Bool { SecretNames.hasHeader(name) }

    /// Whether the header is for the request's own origin only. A trace is no credential, but would tell a third party about its owner.
    var staysWithOrigin: Bool { isCredential || Self.traceNames.contains(name.lowercased()) }

    private static let traceNames: Set = ["traceparent", "tracestate"]
}

extension HeaderField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The line as it is sent, without the value of a credential or the secrets of a URL.
    package var description: String { "\(name): \(printedValue)" }
    package var debugDescription: String { customMirror.printed }
    package var customMirror: Mirror { Mirror(self, children: ["name": name, "value": printedValue], displayStyle: .struct) }

    /// A `Referer` may be a URL with a password.
    private var printedValue: String { isCredential ? "•••" : value.contains("://") ? RedactedURL(value).description : value }
}
