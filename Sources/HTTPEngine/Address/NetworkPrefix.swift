/// A network: `10.0.0.0/8`, `fd00::/8`, or a single address.
package struct NetworkPrefix: Sendable, Hashable {
    /// The first address of the network.
    package let base: IPAddress
    /// How many leading bits all its addresses share.
    package let length: Int

    /// Reads `address` or `address/length`. Bits set after the length are a mistake and refused: `10.0.0.1/8` may have meant either.
    package init(parsing text: String) throws(InvalidOptions) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else {
            throw InvalidOptions("'\(text.escapedForDisplay)' is not an IP address or network such as 10.0.0.0/8 or ::1/128.")
        }
        var length = address.bitCount
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(parts[1]),
                number <= address.bitCount
            else {
                throw InvalidOptions(
                    "The prefix length in '\(text.escapedForDisplay)' must be a number from 0 to \(address.bitCount).")
            }
            length = number
        }
        let first = Self.masked(address, length)
        guard first == address else {
            throw InvalidOptions(
                "'\(text.escapedForDisplay)' has bits after its prefix length: the network is \(first)/\(length).")
        }
        self.init(base: address, length: length)
    }

    /// The network of the addresses that share the first `length` bits of `base`.
    init(base: IPAddress, length: Int) {
        // An IPv4 network written in its mapped form is that IPv4 network.
        if case .v4 = base.unmapped, base.bitCount == 128, length >= 96 {
            self.base = Self.masked(base.unmapped, length - 96)
            self.length = length - 96
        } else {
            self.base = Self.masked(base, length)
            self.length = length
        }
    }

    /// Whether the address, or the IPv4 address it maps, lies in the network.
    package func contains(_ address: IPAddress) -> Bool {
        holds(address) || holds(address.unmapped)
    }

    private func holds(_ address: IPAddress) -> Bool {
        address.bitCount == base.bitCount && Self.masked(address, length) == base
    }

    private static func masked(_ address: IPAddress, _ length: Int) -> IPAddress {
        // Swift's shifts by the full width or more give zero, which is the mask of length 0.
        switch address {
        case .v4(let bits): .v4(bits & (UInt32.max << UInt32(32 - length)))
        case .v6(let bits): .v6(bits & (UInt128.max << UInt128(128 - length)))
        }
    }
}

extension NetworkPrefix: CustomStringConvertible {
    package var description: String { "\(base)/\(length)" }
}
