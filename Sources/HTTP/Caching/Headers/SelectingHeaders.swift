/// The request headers by which an origin chose its answer: the names in `Vary` (RFC 9110, section 12.5.5).
package struct SelectingHeaders: Sendable, Hashable {
    /// In small letters, sorted, each once.
    package let names: [String]

    /// The most names; a sensible answer has fewer, and each multiplies the variants that are kept.
    package static let maximumCount = 16

    package static let none = SelectingHeaders(names: [])

    private init(names: [String]) { self.names = names }

    /// Nil for more names than `maximumCount`.
    ///
    /// `Accept-Encoding` is left out: bodies are kept unpacked, and the engine always asks for the same encodings.
    init?(_ names: some Sequence<String>) {
        let names = Set(names).subtracting(["accept-encoding"])
        guard names.count <= Self.maximumCount else { return nil }
        self.names = names.sorted()
    }

    /// Reads names that were kept; nil unless they are as `names` has them.
    init?(kept names: [String]) {
        guard names.allSatisfy(Self.isName), let selecting = Self(names), selecting.names == names else { return nil }
        self = selecting
    }

    /// The names in all lines of `Vary`; nil for `*`, and for a member that is no name.
    static func names(in lines: [String]) -> [String]? {
        let names = lines.flatMap { HeaderList($0).members }.map { $0.lowercased() }
        return names.allSatisfy(isName) ? names : nil
    }

    private static func isName(_ text: String) -> Bool {
        text != "*" && (1...256).contains(text.utf8.count) && text.utf8.allSatisfy(\.isTokenByte)
    }
}

/// Distinguishes the answers of one URL between which the origin chooses by request headers. Two requests with equal keys get the same
/// answer.
package struct VariantKey: Sendable, Hashable {
    /// 16 bytes, or none where no header selects. It is a digest, because a selecting header may be a secret.
    package let bytes: [UInt8]

    /// The key of an answer that is the same for all requests.
    package static let only = VariantKey(bytes: [])

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter request: All headers of the request that may differ between two callers. The engine's `User-Agent` belongs to them where
    ///   machines have different ones. Lines of one name are joined, and blanks around commas dropped: neither changes the meaning (RFC
    ///   9111, section 4.1).
    package init(_ selecting: SelectingHeaders, request: [HeaderField]) {
        guard !selecting.names.isEmpty else {
            self = .only
            return
        }
        var text: [UInt8] = []
        for name in selecting.names {
            let lines = request.filter { $0.name.lowercased() == name }.map { HeaderList($0.value).members.joined(separator: ",") }
            Self.append(name, to: &text)
            // An absent header differs from an empty one.
            text.append(lines.isEmpty ? 0 : 1)
            Self.append(lines.filter { !$0.isEmpty }.joined(separator: ","), to: &text)
        }
        bytes = Array(SHA256Digest(of: text).bytes.prefix(16))
    }

    /// Reads a key that was kept.
    init?(kept bytes: [UInt8]) {
        guard bytes.isEmpty || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Writes the length first, so that no two lists of names and values become the same text.
    private static func append(_ part: String, to text: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { text += $0 }
        text += part.utf8
    }
}
