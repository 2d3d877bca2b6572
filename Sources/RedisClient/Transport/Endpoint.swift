#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One concrete place to connect to: a socket address, copied out of the resolver's list.
struct Endpoint: Sendable, Equatable {
    let family: Int32
    private let storage: [UInt8]

    init(family: Int32, bytes: UnsafeRawBufferPointer) {
        self.family = family
        self.storage = Array(bytes)
    }

    /// A Unix socket. The path's length has been checked against what an address holds.
    init?(unixPath path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { field in
            guard bytes.count < field.count, !bytes.contains(0) else { return false }
            field.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        #if canImport(Darwin)
        address.sun_len = UInt8(MemoryLayout<sockaddr_un>.size)
        #endif
        self = withUnsafeBytes(of: &address) { Endpoint(family: AF_UNIX, bytes: $0) }
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_storage()
        withUnsafeMutableBytes(of: &address) { $0.copyBytes(from: storage.prefix($0.count)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(storage.count)) }
        }
    }
}
