/// Decides which addresses a socket may connect to: public ones, and what the user has permitted.
///
/// It is asked for the very address a socket is about to use, after DNS and on every hop of a redirect, so that neither a name
/// nor a redirect can lead into the machine's own networks.
package struct AddressGuard: Sendable, Hashable {
    /// Networks permitted although they are not public.
    package var allowed: [NetworkPrefix]
    /// Whether every address is permitted.
    package var allowsAll: Bool

    /// A guard that permits public addresses and the given networks.
    package init(allowing allowed: [NetworkPrefix] = []) {
        self.allowed = allowed
        allowsAll = false
    }

    /// Reads networks, addresses, or `all`.
    package init(parsing values: [String]) throws(InvalidOptions) {
        self.init()
        for value in values {
            if value == "all" {
                allowsAll = true
            } else {
                allowed.append(try NetworkPrefix(parsing: value))
            }
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

    /// Why a socket must not connect to the address, or nil when it may.
    package func refusal(of address: IPAddress) -> Reason? {
        if allowsAll || allowed.contains(where: { $0.contains(address) }) { return nil }
        switch address.unmapped {
        case .v4:
            return Self.special(address.unmapped, in: SpecialNetworks.v4)
        case .v6(let bits):
            // A tunnel or translator delivers to the IPv4 address, so that is what must be permitted.
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
