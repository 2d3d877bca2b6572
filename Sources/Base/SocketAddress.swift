/// The address of a socket, as the kernel takes it.
package struct SocketAddress: Sendable, Equatable {
    package let family: Int32
    private let storage: [UInt8]

    /// A copy of a `sockaddr`.
    package init(family: Int32, bytes: UnsafeRawBufferPointer) {
        self.family = family
        storage = Array(bytes)
    }

    /// A Unix socket. Nil when the path is longer than an address holds.
    package init?(unixPath path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { field in
            guard bytes.count < field.count, !bytes.contains(0) else { return false }
            field.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        self = withUnsafeBytes(of: &address) { SocketAddress(family: AF_UNIX, bytes: $0) }
    }

    /// An IPv4 or IPv6 address with a port; nil for another text.
    package init?(_ text: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, text, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            self = withUnsafeBytes(of: &four) { SocketAddress(family: AF_INET, bytes: $0) }
        } else if inet_pton(AF_INET6, text, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            self = withUnsafeBytes(of: &six) { SocketAddress(family: AF_INET6, bytes: $0) }
        } else {
            return nil
        }
    }

    /// A stream socket for it that does not block. Nil, and `errno` says why, when there is none.
    package func makeSocket() -> Int32? {
        let descriptor = socket(family, Self.stream, 0)
        guard descriptor >= 0 else { return nil }
        Descriptor.setFlags(of: descriptor)
        return descriptor
    }

    package static let stream = Int32(SOCK_STREAM.rawValue)

    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_storage()
        withUnsafeMutableBytes(of: &address) { $0.copyBytes(from: storage.prefix($0.count)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(storage.count)) }
        }
    }

    /// The address as people write it, without its port; nil for another family than IPv4 and IPv6.
    package static func text(of address: UnsafePointer<sockaddr>) -> String? {
        let bytes = UnsafeRawPointer(address)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = Int32(address.pointee.sa_family)
        guard family == AF_INET || family == AF_INET6 else { return nil }
        // Behind the family and the port, and in IPv6 also behind the flow.
        guard inet_ntop(family, bytes + (family == AF_INET ? 4 : 8), &text, socklen_t(text.count)) != nil else { return nil }
        return text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The port that a socket is bound to.
    package static func port(ofSocket socket: Int32) -> UInt16? {
        var bound = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        guard code == 0 else { return nil }
        // At the same place in an IPv4 and an IPv6 address.
        return withUnsafeBytes(of: &bound) { $0.load(fromByteOffset: 2, as: UInt16.self) }.bigEndian
    }
}
