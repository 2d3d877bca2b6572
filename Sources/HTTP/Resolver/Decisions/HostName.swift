internal import GannetBase

/// A URL's host, read before any look-up.
enum HostName: Hashable {
    case address(IPAddress)
    /// `localhost` and all names below it. RFC 6761 forbids to ask a name server for them.
    case loopback
    /// A name in lower case, with the dot at its end if it had one.
    case name(String)

    /// Reads a host as it stands in a URL: an IPv6 address may be in brackets.
    init(_ host: String) throws(ResolveFailure) {
        if let address = IPAddress(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]) {
            self = .address(address)
            return
        }
        let labels = try Self.labels(of: host)
        let last = labels.last ?? ""
        guard !Self.isNumber(last.utf8) else { throw .badName("it ends in a number but is no IP address") }
        switch last {
        case "localhost": self = .loopback
        case "onion": throw .onion
        case "invalid": throw .noSuchName
        default: self = .name(labels.joined(separator: ".") + (host.utf8.last == UInt8(ascii: ".") ? "." : ""))
        }
    }

    /// The parts between the dots, in lower case.
    private static func labels(of host: String) throws(ResolveFailure) -> [String] {
        var bytes = host.utf8.map(\.lowercased)
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw .badName("it is empty") }
        guard bytes.count <= 253 else { throw .badName("it has more than 253 characters") }
        guard bytes.allSatisfy({ $0.isLetterOrDigit || "-._".utf8.contains($0) }) else {
            throw .badName("it has a character that host names do not have")
        }
        return try bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { label throws(ResolveFailure) in
            guard !label.isEmpty else { throw .badName("two dots follow each other, or it begins with one") }
            guard label.count <= 63 else { throw .badName("a part between dots has more than 63 characters") }
            return String(decoding: label, as: UTF8.self)
        }
    }

    /// Whether the C library would read a name with this last label as an address: `127.1`, `0x7f.1`. No top-level domain is such a number.
    static func isNumber(_ label: some Collection<UInt8>) -> Bool {
        guard label.first == UInt8(ascii: "0"), let mark = label.dropFirst().first, mark | 0x20 == UInt8(ascii: "x") else {
            return !label.isEmpty && label.allSatisfy(\.isDigit)
        }
        return label.dropFirst(2).allSatisfy { $0.hexadecimalDigit != nil }
    }
}
