package import HTTPEngine

/// What tells the answers of one URL apart that an origin chose by request headers: equal for two requests that it takes for the same.
package struct VariantKey: Sendable, Hashable {
    /// 16 bytes; none where nothing selects. A digest, since what selects may be a secret.
    package let bytes: [UInt8]

    /// The key of an answer that is the same for all.
    package static let only = VariantKey(bytes: [])

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter request: All headers of the request that may differ between two callers, the engine's `User-Agent` among them where machines
    ///   have different ones. Lines of one name are joined and blanks around commas dropped, which changes no meaning (RFC 9111, section 4.1).
    package init(_ selecting: SelectingHeaders, request: [HeaderField]) {
        guard !selecting.names.isEmpty else {
            self = .only
            return
        }
        var text: [UInt8] = []
        for name in selecting.names {
            let lines = request.filter { $0.name.lowercased() == name }.map { HeaderList($0.value).members.joined(separator: ",") }
            Self.append(name, to: &text)
            // A header that is absent is another than an empty one.
            text.append(lines.isEmpty ? 0 : 1)
            Self.append(lines.filter { !$0.isEmpty }.joined(separator: ","), to: &text)
        }
        bytes = Array(SHA256Digest(of: text).bytes.prefix(16))
    }

    /// For a key that was kept.
    init?(kept bytes: [UInt8]) {
        guard bytes.isEmpty || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// With its length before it, so that no two lists of names and values are the same text.
    private static func append(_ part: String, to text: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { text += $0 }
        text += part.utf8
    }
}
