#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

    /// 32 or 128.
    package var bitCount: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The IPv4 address when this is one written as `::ffff:a.b.c.d`, else the address itself. The kernel treats both the same.
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
