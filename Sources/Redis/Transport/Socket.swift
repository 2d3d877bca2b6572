internal import GannetBase

/// A non-blocking stream socket, closed with its owner.
final class Socket {
    let descriptor: Int32

    /// The outcome of ``connect(to:)``.
    enum Start {
        case connecting(Socket)
        case failed(errno: Int32)
    }

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { _ = close(descriptor) }

    /// Starts to connect. When the socket becomes writable, ``connectError`` holds the outcome.
    static func connect(to address: SocketAddress) -> Start {
        guard let descriptor = address.makeSocket() else { return .failed(errno: errno) }
        let socket = Socket(descriptor)
        if address.family != AF_UNIX {
            socket.set(Int32(IPPROTO_TCP), TCP_NODELAY)
            socket.set(SOL_SOCKET, SO_KEEPALIVE)
            // A peer that vanished is noticed within half a minute, also without commands.
            socket.set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, to: 15)
            socket.set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, to: 5)
            socket.set(Int32(IPPROTO_TCP), TCP_KEEPCNT, to: 3)
        }
        let result = address.withPointer { GannetBase.connect(descriptor, $0, $1) }
        // A Unix socket with a full backlog answers EAGAIN. It would never become writable, so this is a failure.
        guard result == 0 || errno == EINPROGRESS || errno == EINTR else { return .failed(errno: errno) }
        return .connecting(socket)
    }

    /// The outcome of the attempt to connect: 0 or an `errno`.
    var connectError: Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }

    private func set(_ level: Int32, _ option: Int32, to value: Int32 = 1) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
