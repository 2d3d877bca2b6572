/// The host of a URL in its one spelling.
enum CanonicalHost {
    /// A name in small letters, an IPv4 address as four numbers, an IPv6 address in brackets as RFC 5952 has it.
    ///
    /// libcurl lets more through: bytes that no name has, when they were escaped or made by UTS 46, by which a canonical form could read as
    /// another URL; IPv6 addresses in several spellings; IPv4 addresses that show only behind escapes or wide digits; and names that end in
    /// a number, which nobody can have.
    /// - Parameter host: As libcurl gives it: without escapes and in ASCII.
    static func text(_ host: String) throws(RequestRejection) -> String {
        if host.utf8.first == UInt8(ascii: "[") {
            guard host.utf8.last == UInt8(ascii: "]"), let address = IPAddress(host.dropFirst().dropLast()), address.bitCount == 128 else {
                throw .badHost
            }
            return "[\(address)]"
        }
        guard host.utf8.allSatisfy(PercentEncoding.isUnreserved) else { throw .badHost }
        if endsInNumber(host) { return try address(host) }
        return host.utf8.contains { (0x41...0x5a).contains($0) } ? host.lowercased() : host
    }

    /// The IPv4 address that the host is, or else it is nothing (WHATWG's host parser).
    private static func address(_ host: String) throws(RequestRejection) -> String {
        if IPAddress(host) != nil { return host }
        // libcurl reads the odd spellings only where they stand plainly.
        let handle = CurlURL()
        try handle.set("http://\(host)/")
        guard let plain = try handle.get(.host), IPAddress(plain) != nil else { throw .badHost }
        return plain
    }

    /// Whether the last label, not counting the root's, is a decimal or hexadecimal number.
    private static func endsInNumber(_ host: String) -> Bool {
        let name = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...]
        let label = name.lastIndex(of: UInt8(ascii: ".")).map { name[name.index(after: $0)...] } ?? name
        guard let first = label.first, (0x30...0x39).contains(first) else { return false }
        if first == 0x30, let mark = label.dropFirst().first, mark | 0x20 == UInt8(ascii: "x") {
            return label.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
        }
        return label.allSatisfy { (0x30...0x39).contains($0) }
    }
}
