/// Decides which addresses a socket may connect to: public ones, and the networks that the user permits.
///
/// It checks the very address a socket is about to use, after DNS and on every redirect. So neither a name nor a redirect can lead into the
/// machine's own networks.
package struct AddressGuard: Sendable, Hashable {
    /// Networks that are permitted although they are not public.
    private var allowed: [NetworkPrefix] = []
    private var allowsAll = false

    /// - Parameter values: Permitted networks or addresses, or `all`.
    package init(parsing values: [String] = []) throws(InvalidOptions) {
        for value in values {
            if value == "all" { allowsAll = true } else { allowed.append(try NetworkPrefix(parsing: value)) }
        }
    }

    /// Why an address is refused.
    package enum Reason: String, Sendable, Hashable {
        case unspecified = "the unspecified address"
        case loopback = "a loopback address"
        case privateNetwork = "a private address"
        case linkLocal = "a link-local address"
        case siteLocal = "a site-local address"
        case carrierNAT = "a carrier-grade NAT address"
        case metadata = "a cloud metadata address"
        case multicast = "a multicast address"
        case documentation = "an address reserved for documentation"
        case benchmark = "an address reserved for benchmarks"
        case reserved = "a reserved address"
        case embedded = "an IPv6 address that hides an IPv4 address"
    }

    static let networkBegin = ", and the network "
    static let networkEnd = " is not allowed"

    /// The network that a failure's sentence names: a user may allow it. The sentence names none for metadata and for redirects.
    package static func network(refusedIn sentence: String) -> String? {
        guard let begin = sentence.firstRange(of: networkBegin), let end = sentence[begin.upperBound...].firstRange(of: networkEnd) else {
            return nil
        }
        let network = String(sentence[begin.upperBound..<end.lowerBound])
        return (try? NetworkPrefix(parsing: network)) == nil ? nil : network
    }

    /// The addresses of a name that libcurl is told. After a socket that was refused libcurl waits for half of the time for connecting before it
    /// tries the next address. So it gets those that are permitted, or else one whose refusal is the reason of the failure.
    func worthTrying(_ addresses: [IPAddress]) -> [IPAddress] {
        let permitted = addresses.filter { refusal(of: $0) == nil }
        return permitted.isEmpty ? Array(addresses.prefix(1)) : permitted
    }

    /// Why a socket must not connect to the address, or nil when it may.
    package func refusal(of address: IPAddress) -> Reason? {
        if allowsAll || allowed.contains(where: { $0.contains(address) }) { return nil }
        switch address.unmapped {
        case .v4:
            return Self.special(address.unmapped, in: SpecialNetworks.v4)
        case .v6(let bits):
            // A tunnel or translator delivers to the IPv4 address, so the IPv4 address must be permitted.
            let hidden = Self.hiddenAddresses(in: bits)
            for inner in hidden {
                if let reason = refusal(of: .v4(inner)) { return reason }
            }
            if SpecialNetworks.nat64.contains(address) || SpecialNetworks.teredo.contains(address) { return nil }
            return Self.special(address, in: SpecialNetworks.v6)
                ?? (SpecialNetworks.globalUnicast.contains(address) ? nil : .reserved)
        }
    }

    private static func special(_ address: IPAddress, in table: [(NetworkPrefix, Reason)]) -> Reason? {
        table.first { $0.0.contains(address) }?.1
    }

    /// The IPv4 addresses that a packet to this IPv6 address may end at.
    private static func hiddenAddresses(in bits: UInt128) -> [UInt32] {
        let address = IPAddress.v6(bits)
        let last = UInt32(truncatingIfNeeded: bits)
        if SpecialNetworks.nat64.contains(address) { return [last] }
        if SpecialNetworks.sixToFour.contains(address) { return [UInt32(truncatingIfNeeded: bits >> 80)] }
        if SpecialNetworks.teredo.contains(address) {
            // The relay's server, and the client behind it with its bits inverted.
            return [UInt32(truncatingIfNeeded: bits >> 64), ~last]
        }
        // ISATAP: any prefix, then 0000:5efe or 0200:5efe, then the IPv4 address.
        if (bits >> 32) & 0xfdff_ffff == 0x0000_5efe { return [last] }
        return []
    }
}

/// The networks without public origins (IANA's special-purpose registries), in the order they are checked.
enum SpecialNetworks {
    static let v4: [(NetworkPrefix, AddressGuard.Reason)] = [
        (four(0, 0, 0, 0, 32), .unspecified),
        (four(0, 0, 0, 0, 8), .reserved),
        (four(10, 0, 0, 0, 8), .privateNetwork),
        (four(100, 100, 100, 200, 32), .metadata),  // Alibaba Cloud
        (four(100, 64, 0, 0, 10), .carrierNAT),
        (four(127, 0, 0, 0, 8), .loopback),
        (four(168, 63, 129, 16, 32), .metadata),  // Azure, in public space
        (four(169, 254, 169, 254, 32), .metadata),  // nearly everyone else
        (four(169, 254, 0, 0, 16), .linkLocal),
        (four(172, 16, 0, 0, 12), .privateNetwork),
        (four(192, 0, 0, 192, 32), .metadata),  // Oracle Cloud
        (four(192, 0, 0, 0, 24), .reserved),
        (four(192, 0, 2, 0, 24), .documentation),
        (four(192, 88, 99, 0, 24), .reserved),  // the former 6to4 relays
        (four(192, 168, 0, 0, 16), .privateNetwork),
        (four(198, 18, 0, 0, 15), .benchmark),
        (four(198, 51, 100, 0, 24), .documentation),
        (four(203, 0, 113, 0, 24), .documentation),
        (four(224, 0, 0, 0, 4), .multicast),
        (four(240, 0, 0, 0, 4), .reserved),
    ]

    static let v6: [(NetworkPrefix, AddressGuard.Reason)] = [
        (six(0, 0, 0, 0, 128), .unspecified),
        (NetworkPrefix(base: .v6(1), length: 128), .loopback),
        (six(0, 0, 0, 0, 96), .embedded),  // "compatible": given up, and not routed
        (six(0x64, 0xff9b, 1, 0, 48), .embedded),  // NAT64 for local use: where the IPv4 address sits is the operator's choice
        (six(0x100, 0, 0, 0, 64), .reserved),
        (six(0x2001, 2, 0, 0, 48), .benchmark),
        (six(0x2001, 0xdb8, 0, 0, 32), .documentation),
        (six(0x2001, 0, 0, 0, 23), .reserved),
        (six(0x3fff, 0, 0, 0, 20), .documentation),
        (NetworkPrefix(base: .v6(0xfd00_0ec2_0000_0000_0000_0000_0000_0254), length: 128), .metadata),  // AWS
        (six(0xfc00, 0, 0, 0, 7), .privateNetwork),
        (six(0xfe80, 0, 0, 0, 10), .linkLocal),
        (six(0xfec0, 0, 0, 0, 10), .siteLocal),
        (six(0xff00, 0, 0, 0, 8), .multicast),
    ]

    /// All IPv6 addresses given out so far. An address outside it and in no list above is reserved.
    static let globalUnicast = six(0x2000, 0, 0, 0, 3)

    /// 64:ff9b::/96, in which an IPv6-only network reaches the IPv4 internet.
    static let nat64 = six(0x64, 0xff9b, 0, 0, 96)
    static let sixToFour = six(0x2002, 0, 0, 0, 16)
    static let teredo = six(0x2001, 0, 0, 0, 32)

    private static func four(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ length: Int) -> NetworkPrefix {
        NetworkPrefix(base: .v4(a << 24 | b << 16 | c << 8 | d), length: length)
    }

    /// From the first four of the eight groups.
    private static func six(_ a: UInt128, _ b: UInt128, _ c: UInt128, _ d: UInt128, _ length: Int) -> NetworkPrefix {
        NetworkPrefix(base: .v6(a << 112 | b << 96 | c << 80 | d << 64), length: length)
    }
}
