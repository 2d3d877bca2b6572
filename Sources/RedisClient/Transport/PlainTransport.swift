internal import GannetBasics

/// Bytes in the clear over a socket.
final class PlainTransport: Transport {
    private let socket: Socket

    init(_ socket: Socket) { self.socket = socket }

    func prepare() -> TransportOutcome? { nil }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportOutcome {
        let count = GannetBasics.read(socket.descriptor, buffer.baseAddress, buffer.count)
        if count > 0 { return .bytes(count) }
        return count == 0 ? .ended : Self.outcome(of: errno, waiting: .needsRead)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> TransportOutcome {
        // A write to a peer that has gone raises SIGPIPE; the connection's thread blocks all signals, so it is EPIPE here.
        let count = GannetBasics.write(socket.descriptor, bytes.baseAddress, bytes.count)
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
