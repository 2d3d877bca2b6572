/// A URL to fetch as it is kept in the queue, in as few bytes as possible.
///
/// | bytes | what |
/// | --- | --- |
/// | 0 | format: `j` |
/// | 1–16 | the URL's id |
/// | 17, 18 | where the host stands in the URL, and how long it is |
/// | 19… | the URL, as given |
///
/// Hosts are compared in a form that the URL may not contain: its host may be `EXAMPLE.com` or `%65xample.com`. Then the format is `x`,
/// byte 17 is the length of the host, and the host comes before the URL.
package struct JobEntry: Sendable, Equatable {
    package let id: URLID

    /// The host whose limits apply to the job.
    package let host: String
    package let url: String

    package static let longestURL = 8192
    package static let longestHost = 255

    /// - Throws: `StateError.invalid` for a URL or a host that the format cannot hold.
    package init(id: URLID, host: String, url: String) throws(StateError) {
        guard !url.isEmpty, url.utf8.count <= Self.longestURL else {
            throw .invalid("A URL has 1 to \(Self.longestURL) bytes; this one has \(url.utf8.count).")
        }
        guard !host.isEmpty, host.utf8.count <= Self.longestHost else {
            throw .invalid("A host has 1 to \(Self.longestHost) bytes; this one has \(host.utf8.count).")
        }
        guard !host.utf8.contains(where: { $0 < 0x21 || $0 == 0x7f }) else { throw .invalid("A host has no spaces or control characters.") }
        self.id = id
        self.host = host
        self.url = url
    }
}

extension JobEntry {
    private static let lean = UInt8(ascii: "j")
    private static let leanWithHost = UInt8(ascii: "x")
    private static let farthestHost = 64

    var bytes: [UInt8] {
        var url = self.url
        var host = self.host
        return url.withUTF8 { url in
            host.withUTF8 { host in
                let offset = Self.offset(of: host, in: url)
                var bytes: [UInt8] = []
                bytes.reserveCapacity(20 + url.count + (offset == nil ? host.count : 0))
                bytes.append(offset == nil ? Self.leanWithHost : Self.lean)
                bytes.append(contentsOf: id.bytes)
                if let offset {
                    bytes.append(UInt8(offset))
                    bytes.append(UInt8(host.count))
                } else {
                    bytes.append(UInt8(host.count))
                    bytes.append(contentsOf: host)
                }
                bytes.append(contentsOf: url)
                return bytes
            }
        }
    }

    /// Reads an entry; `nil` for other bytes, and where the URL is not valid UTF-8.
    init?(_ bytes: ArraySlice<UInt8>) {
        let base = bytes.startIndex
        guard bytes.count > 19, let id = URLID(Array(bytes[base + 1..<base + 17])) else { return nil }
        let hostRange: Range<Int>
        let urlStart: Int
        switch bytes[base] {
        case Self.lean:
            urlStart = base + 19
            let start = urlStart + Int(bytes[base + 17])
            hostRange = start..<start + Int(bytes[base + 18])
        case Self.leanWithHost:
            urlStart = base + 18 + Int(bytes[base + 17])
            hostRange = base + 18..<urlStart
        default: return nil
        }
        guard urlStart < bytes.endIndex, hostRange.upperBound <= bytes.endIndex else { return nil }
        guard let host = String(validating: bytes[hostRange], as: UTF8.self) else { return nil }
        guard let url = String(validating: bytes[urlStart...], as: UTF8.self) else { return nil }
        self.id = id
        self.host = host
        self.url = url
    }

    /// Where the host stands in the URL, if it is near enough to the start for one byte.
    private static func offset(of host: UnsafeBufferPointer<UInt8>, in url: UnsafeBufferPointer<UInt8>) -> Int? {
        let last = min(farthestHost, url.count - host.count)
        guard last >= 0 else { return nil }
        return (0...last).first { start in (0..<host.count).allSatisfy { url[start + $0] == host[$0] } }
    }
}
