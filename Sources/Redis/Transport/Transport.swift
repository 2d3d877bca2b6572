internal import GannetBase

/// The outcome of a read or write that does not block.
enum TransportOutcome {
    /// At least one byte was read or written.
    case bytes(Int)
    /// The socket has to become readable first.
    case needsRead
    /// The socket has to become writable first.
    case needsWrite
    /// The peer closed the connection.
    case ended
    case failed(RedisError)
}

/// A connected byte stream. Used on its connection's thread.
protocol Transport: AnyObject {
    /// Continues the setup of the stream; `nil` when it is ready.
    func prepare() -> TransportOutcome?
    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportOutcome
    func write(_ bytes: UnsafeRawBufferPointer) -> TransportOutcome
}

/// A socket without TLS.
final class PlainTransport: Transport {
    private let socket: Socket

    init(_ socket: Socket) { self.socket = socket }

    func prepare() -> TransportOutcome? { nil }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportOutcome {
        let count = GannetBase.read(socket.descriptor, buffer.baseAddress, buffer.count)
        if count > 0 { return .bytes(count) }
        return count == 0 ? .ended : Self.outcome(of: errno, waiting: .needsRead)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> TransportOutcome {
        // The connection's thread blocks all signals, so a write to a closed connection is EPIPE and not SIGPIPE.
        let count = GannetBase.write(socket.descriptor, bytes.baseAddress, bytes.count)
        return count > 0 ? .bytes(count) : Self.outcome(of: errno, waiting: .needsWrite)
    }

    private static func outcome(of code: Int32, waiting: TransportOutcome) -> TransportOutcome {
        switch code {
        case EAGAIN, EINTR: waiting
        case ECONNRESET, EPIPE: .ended
        default: .failed(RedisError(.connectionLost, Descriptor.message(code)))
        }
    }
}
