/// A job as it lies in Redis: one compact string, the URL last.
///
/// | bytes | what |
/// | --- | --- |
/// | 0 | version, 1 |
/// | 1 | crashes: leases that ended without an outcome |
/// | 2–7 | serial, unique in its queue: two jobs for one URL are never equal |
/// | 8–23 | the URL's id |
/// | 24… | the URL, as given |
package struct JobEntry: Sendable, Equatable {
    package let serial: Int
    package let crashes: Int
    package let id: URLID
    package let url: String

    package static let version: UInt8 = 1
    private static let headerBytes = 24

    /// Reads an entry; `nil` for one that another version wrote.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.headerBytes, bytes[0] == Self.version, let id = URLID(Array(bytes[8..<24])) else { return nil }
        guard let url = String(validating: bytes[Self.headerBytes...], as: UTF8.self) else { return nil }
        self.crashes = Int(bytes[1])
        self.serial = bytes[2..<8].reduce(0) { $0 << 8 | Int($1) }
        self.id = id
        self.url = url
    }
}

/// What a URL is known by in Redis: the first 16 bytes of the SHA-256 of its canonical form.
package struct URLID: Sendable, Hashable {
    package let bytes: [UInt8]

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}
