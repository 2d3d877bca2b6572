internal import GannetBase

/// The sockets of a `DNSServer`: its loop closes all but `wakeEnd`.
struct DNSServerSockets: Sendable {
    let port: UInt16
    let datagrams: Int32
    /// Another port's: for answers that come from the wrong place.
    let elsewhere: Int32
    let listener: Int32
    /// The loop's end of the channel on which it is told to stop, and the other.
    let stopEnd: Int32
    let wakeEnd: Int32

    init(port: UInt16) throws(KitError) {
        var attempt = 0
        while true {
            attempt += 1
            let datagrams = try Self.datagramSocket(port: port)
            let chosen = Socket.port(of: datagrams)
            do {
                listener = try Socket.listen(on: .loopback(port: chosen))
            } catch {
                close(datagrams)
                // A port that is free for datagrams may be somebody's for connections.
                if port == 0, attempt < 20 { continue }
                throw error
            }
            self.port = chosen
            self.datagrams = datagrams
            break
        }
        elsewhere = try Self.datagramSocket(port: 0)
        (stopEnd, wakeEnd) = try makeChannel()
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    }

    private static func datagramSocket(port: UInt16) throws(KitError) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { throw .system("cannot make a socket", errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // Thousands may ask in one moment; the kernel grants as much as it is set to.
        var size: Int32 = 4 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            let code = errno
            close(descriptor)
            throw .system("cannot take port \(port) for datagrams", code)
        }
        return descriptor
    }
}
