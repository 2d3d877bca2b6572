internal import GannetBase

/// An IPv4 or IPv6 address as a number, without port, zone or name.
package enum IPAddress: Sendable, Hashable {
    case v4(UInt32)
    case v6(UInt128)

    /// The address written in `text` in the usual way; octal, hexadecimal and shortened IPv4 forms are not addresses here.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        // inet_pton would stop reading at a NUL.
        guard !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            self = .v6(withUnsafeBytes(of: six) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) })
        } else {
            return nil
        }
    }

    /// The address in a `sockaddr` of `length` bytes; nil for families other than IPv4 and IPv6.
    init?(socketAddress: UnsafeRawPointer, length: Int) {
        guard length >= MemoryLayout<sockaddr>.size else { return nil }
        switch Int32(socketAddress.loadUnaligned(as: sockaddr.self).sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            self = .v4(UInt32(bigEndian: socketAddress.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let address = socketAddress.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self = .v6(withUnsafeBytes(of: address) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) })
        default:
            return nil
        }
    }

    /// The address and port of one end of a socket, which `ask` tells: `getsockname` or `getpeername`.
    static func end(
        of socket: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> (address: IPAddress, port: UInt16)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard ask(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length) == 0,
                let base = bytes.baseAddress, let address = IPAddress(socketAddress: base, length: Int(length))
            else { return nil }
            // The port stands in the same place for both families.
            return (address, UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        }
    }

    /// 32 or 128.
    package var bitCount: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The IPv4 address of one that is written as `::ffff:a.b.c.d`; otherwise the address itself. The kernel treats both alike.
    package var unmapped: IPAddress {
        if case .v6(let bits) = self, bits >> 32 == 0xffff { .v4(UInt32(truncatingIfNeeded: bits)) } else { self }
    }
}

extension IPAddress: CustomStringConvertible {
    package var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch self {
        case .v4(let bits):
            var address = in_addr(s_addr: bits.bigEndian)
            _ = inet_ntop(AF_INET, &address, &buffer, socklen_t(buffer.count))
        case .v6(let bits):
            var bits = bits.bigEndian
            _ = inet_ntop(AF_INET6, &bits, &buffer, socklen_t(buffer.count))
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A network: `10.0.0.0/8`, `fd00::/8`, or a single address.
struct NetworkPrefix: Sendable, Hashable {
    /// The first address of the network.
    let base: IPAddress
    /// How many leading bits all its addresses share.
    let length: Int

    /// Reads `address` or `address/length`. Bits behind the length are refused: `10.0.0.1/8` may mean the address or the network.
    init(parsing text: String) throws(InvalidOptions) {
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
    func contains(_ address: IPAddress) -> Bool {
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
    var description: String { "\(base)/\(length)" }
}
