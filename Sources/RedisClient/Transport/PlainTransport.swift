#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Bytes in the clear over a socket.
final class PlainTransport: Transport {
    private let socket: Socket

    init(_ socket: Socket) { self.socket = socket }

    func prepare() -> TransportOutcome? { nil }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportOutcome {
        #if canImport(Glibc)
        let count = Glibc.read(socket.descriptor, buffer.baseAddress, buffer.count)
        #else
        let count = Darwin.read(socket.descriptor, buffer.baseAddress, buffer.count)
        #endif
        if count > 0 { return .bytes(count) }
        return count == 0 ? .ended : Self.outcome(of: errno, waiting: .needsRead)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> TransportOutcome {
        // A write to a peer that has gone raises SIGPIPE; the connection's thread blocks all signals, so it is EPIPE here.
        #if canImport(Glibc)
        let count = Glibc.write(socket.descriptor, bytes.baseAddress, bytes.count)
        #else
        let count = Darwin.write(socket.descriptor, bytes.baseAddress, bytes.count)
        #endif
        return count > 0 ? .bytes(count) : Self.outcome(of: errno, waiting: .needsWrite)
    }

    private static func outcome(of code: Int32, waiting: TransportOutcome) -> TransportOutcome {
        switch code {
        case EAGAIN, EINTR: waiting
        case ECONNRESET, EPIPE: .ended
        default: .failed(RedisError(.connectionLost, systemMessage(code)))
        }
    }
}
