internal import GannetBase
import Synchronization

/// Where a server of the kit is.
package enum ServerAddress: Hashable, Sendable {
    case unix(path: String)
    /// A port of 127.0.0.1.
    case loopback(port: UInt16)
    /// An IPv4 address.
    case address(String, port: UInt16)
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
    static func port(of descriptor: Int32) -> UInt16 { SocketAddress.port(ofSocket: descriptor) ?? 0 }

    /// A free port. It is none that the kernel gives to connections and to servers without a port.
    static func freePort() throws(KitError) -> FreePort {
        for _ in ownPorts {
            let number = ownPorts.lowerBound + nextPort.add(1, ordering: .relaxed).oldValue % ownPorts.count
            if let descriptor = try? occupy(.loopback(port: UInt16(number))) { return FreePort(descriptor) }
        }
        return FreePort(try occupy(.loopback(port: 0)))
    }

    /// Ports below the kernel's own. The range is empty where the kernel takes nearly all.
    private static let ownPorts: Range<Int> = {
        let text = (try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)) ?? ""
        return 10_000..<max(10_000, text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0)
    }()

    /// Begins anywhere, because another process may look for ports at the same time.
    private static let nextPort = Atomic(Int.random(in: 0..<10_000))

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
        let name =
            switch address {
            case .unix(let path): SocketAddress(unixPath: path)
            case .loopback(let port): SocketAddress("127.0.0.1", port: port)
            case .address(let text, let port): SocketAddress(text, port: port)
            }
        guard let name else { throw KitError("a socket cannot have the address \(address)") }
        let descriptor = socket(name.family, SocketAddress.stream, 0)
        let status = name.withPointer { call(descriptor, $0, $1) }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw .system("cannot reach or take \(address)", code)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}

/// A port of 127.0.0.1 for a server, which has it to itself for as long as this object lives, also while it is stopped and started again.
///
/// A socket that only has the port's address keeps others away who look for one. It lets in a server that asks to reuse addresses.
final class FreePort: Sendable {
    let number: UInt16
    private let descriptor: Int32

    fileprivate init(_ descriptor: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        self.descriptor = descriptor
        number = Socket.port(of: descriptor)
    }

    deinit { close(descriptor) }
}

// The C functions have the names of the methods above.
private func startConnecting(_ descriptor: Int32, _ name: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, name, length)
}

private func startListening(_ descriptor: Int32, _ line: Int32) -> Int32 {
    listen(descriptor, line)
}

/// The server's end of a connection as a script sees it: bytes, whatever carries them. Its calls block; another thread ends them by
/// shutting the descriptor down.
protocol ByteStream {
    /// The socket beneath, which the stream does not own.
    var descriptor: Int32 { get }

    func sendAll(_ bytes: [UInt8]) throws(KitError)

    /// Some bytes; none at the end of the stream.
    func receive() throws(KitError) -> [UInt8]

    /// Says farewell, where the stream has a word for it.
    func finish()
}

/// A socket as it is.
struct PlainStream: ByteStream {
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    func sendAll(_ bytes: [UInt8]) throws(KitError) { try Socket.sendAll(bytes, to: descriptor) }

    func receive() throws(KitError) -> [UInt8] { try Socket.receive(from: descriptor) }

    func finish() {}
}
