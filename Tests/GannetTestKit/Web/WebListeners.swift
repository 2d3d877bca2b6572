internal import GannetBase

/// The sockets of a made-up web, each at the same port of all loopback addresses.
struct WebListeners: Sendable {
    let plain: Int32
    let tls: Int32
    /// A port that nobody listens at.
    let refusing: Int32
    /// A port whose queue of connections is full. The kernel drops each further packet that asks for a connection.
    let silent: Int32
    /// The connection that fills the queue.
    let filling: Int32

    init() throws(KitError) {
        plain = try Self.bound()
        tls = try Self.bound()
        refusing = try Self.bound()
        silent = try Self.bound()
        for socket in [plain, tls] {
            // Accepted connections inherit it. An answer goes out as it is written.
            var on: Int32 = 1
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            guard listen(socket, 4096) == 0 else { throw .system("cannot listen", errno) }
            Descriptor.setFlags(of: socket)
        }
        // A queue of length zero holds one connection.
        guard listen(silent, 0) == 0 else { throw .system("cannot listen", errno) }
        filling = try Socket.connect(to: .loopback(port: Socket.port(of: silent)))
    }

    var all: [Int32] { [plain, tls, refusing, silent, filling] }

    private static func bound() throws(KitError) -> Int32 {
        let descriptor = socket(AF_INET, SocketAddress.stream | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, let address = SocketAddress("0.0.0.0", port: 0) else { throw .system("cannot make a socket", errno) }
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else { throw .system("cannot take a port", errno) }
        return descriptor
    }
}

/// The ports in the URLs of a made-up web.
package struct WebPorts: Sendable, Equatable {
    package let plain: UInt16
    package let tls: UInt16
    package let refusing: UInt16
    package let silent: UInt16

    package init(plain: UInt16, tls: UInt16, refusing: UInt16, silent: UInt16) {
        self.plain = plain
        self.tls = tls
        self.refusing = refusing
        self.silent = silent
    }

    init(_ listeners: WebListeners) {
        self.init(
            plain: Socket.port(of: listeners.plain), tls: Socket.port(of: listeners.tls), refusing: Socket.port(of: listeners.refusing),
            silent: Socket.port(of: listeners.silent))
    }

    package func origin(of host: WebHost) -> String {
        let port =
            switch host.fate {
            case .dead(.refused): refusing
            case .dead(.silentConnect): silent
            default: host.speaksTLS ? tls : plain
            }
        return "\(host.speaksTLS ? "https" : "http")://\(host.name):\(port)"
    }
}
