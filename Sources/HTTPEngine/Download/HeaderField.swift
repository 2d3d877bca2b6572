/// A request header that can be sent as it is: no line breaks, and none of those by which HTTP frames a message.
public struct HeaderField: Sendable, Hashable {
    public let name: String
    /// Without blanks around it, which mean nothing.
    public let value: String

    /// Nil when the name is not a token, is the engine's to set, or the value has control characters.
    public init?(name: String, value: String) {
        let value = value.withoutBlanksAround
        guard Self.problem(name: name, value: value) == nil else { return nil }
        self.name = name
        self.value = value
    }

    /// A header as people write it, `Name: value`, for a request whose whole answer is wanted.
    package init(line: String) throws(RequestRejection) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .noColon }
        let name = String(line[..<colon])
        let value = String(line[line.utf8.index(after: colon)...]).withoutBlanksAround
        if let problem = Self.problem(name: name, value: value) { throw problem }
        if value.isEmpty { throw .noHeaderValue(name: name) }
        self.name = name
        self.value = value
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
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else { return .controlCharacters(name: name) }
        return nil
    }
}

extension String {
    /// RFC 9110's optional whitespace is no part of a value.
    fileprivate var withoutBlanksAround: String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: utf8[first...last], as: UTF8.self)
    }
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
