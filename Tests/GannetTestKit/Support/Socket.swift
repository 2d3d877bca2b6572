#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Where a server of the kit is.
package enum ServerAddress: Hashable, Sendable {
    case unix(path: String)
    /// A port of 127.0.0.1.
    case loopback(port: UInt16)
}

/// The handful of blocking socket calls the kit needs; the caller is on a thread of its own.
enum Socket {
    static func connect(to address: ServerAddress) throws(KitError) -> Int32 {
        try open(address) { startConnecting($0, $1, $2) }
    }

    /// A socket that has the address and lets nobody in.
    static func occupy(_ address: ServerAddress) throws(KitError) -> Int32 {
        try open(address) { bind($0, $1, $2) }
    }

    /// - Parameter line: How many may wait to be accepted.
    static func listen(on address: ServerAddress, line: Int32 = 1024) throws(KitError) -> Int32 {
        let descriptor = try occupy(address)
        guard startListening(descriptor, line) == 0 else {
            defer { close(descriptor) }
            throw .system("cannot listen", errno)
        }
        return descriptor
    }

    /// The port that the kernel chose for a listening socket.
    static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// A port that was free a moment ago. Whoever uses it has to try another when somebody else was faster.
    static func freePort() throws(KitError) -> UInt16 {
        let descriptor = try listen(on: .loopback(port: 0))
        defer { close(descriptor) }
        return port(of: descriptor)
    }

    static func sendAll(_ bytes: [UInt8], to descriptor: Int32) throws(KitError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress! + sent, $0.count - sent, sendWithoutSignal) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system("cannot send", errno) }
            sent += count
        }
    }

    /// Some bytes; none at the end of the stream.
    static func receive(from descriptor: Int32, atMost limit: Int = 64 << 10) throws(KitError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        while true {
            let count = recv(descriptor, &buffer, limit, 0)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system("cannot receive", errno) }
            return Array(buffer[..<count])
        }
    }

    private static func open(
        _ address: ServerAddress, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(KitError) -> Int32 {
        let descriptor: Int32
        let status: Int32
        switch address {
        case .unix(let path):
            descriptor = socket(AF_UNIX, streamSocket, 0)
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else {
                close(descriptor)
                throw KitError("the path of the socket is too long: \(path)")
            }
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            status = withUnsafePointer(to: name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        case .loopback(let port):
            descriptor = socket(AF_INET, streamSocket, 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            status = withUnsafePointer(to: name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw .system("cannot reach or take \(address)", code)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if !canImport(Glibc)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return descriptor
    }
}

// The C functions have the names of the methods above.
private func startConnecting(_ descriptor: Int32, _ name: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, name, length)
}

private func startListening(_ descriptor: Int32, _ line: Int32) -> Int32 {
    listen(descriptor, line)
}
