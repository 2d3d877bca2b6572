import GannetBase
import Glibc

@testable import GannetHTTP

/// A TCP server on a free port of 127.0.0.1 that answers each request as a script says, one thread a connection.
final class ScriptedOrigin: Sendable {
    enum Event: Equatable {
        case accepted
        /// The request's lines up to the empty one.
        case request(String)
        /// The client closed, or the script did.
        case closed
    }

    let port: UInt16
    /// For one reader.
    let events: AsyncStream<Event>

    private let listener: Int32
    private let acceptor: Mutex<OwnedThread?>
    private let connections: Connections

    private final class Connections: Sendable {
        struct Guarded {
            var open: Set<Int32> = []
            var threads: [OwnedThread] = []
            var isStopped = false
        }
        let guarded = Mutex(Guarded())
    }

    /// `script` answers one request on its connection; true keeps the connection for another.
    init(_ script: @escaping @Sendable (Peer) -> Bool) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                precondition(bind(listener, address, length) == 0 && listen(listener, 1024) == 0)
                getsockname(listener, address, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        let connections = Connections()
        self.connections = connections
        acceptor = Mutex(
            OwnedThread(name: "origin") {
                while true {
                    let descriptor = accept(listener, nil, nil)
                    guard descriptor >= 0 else { return }
                    continuation.yield(.accepted)
                    connections.guarded.withLock { guarded in
                        guard !guarded.isStopped else {
                            close(descriptor)
                            return
                        }
                        let thread = OwnedThread(name: "origin") {
                            while let peer = Peer(descriptor) {
                                continuation.yield(.request(peer.head))
                                guard script(peer) else { break }
                            }
                            _ = connections.guarded.withLock { $0.open.remove(descriptor) }
                            close(descriptor)
                            continuation.yield(.closed)
                        }
                        guarded.open.insert(descriptor)
                        if let thread { guarded.threads.append(thread) }
                    }
                }
            })
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        acceptor.withLock { $0 }?.join()
        close(listener)
        let threads = connections.guarded.withLock { guarded in
            guarded.isStopped = true
            for descriptor in guarded.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return guarded.threads
        }
        for thread in threads { thread.join() }
    }

    func url(_ path: String, credentials: String = "") -> String { "http://\(credentials)127.0.0.1:\(port)\(path)" }

    /// Waits for an event that passes.
    func wait(for matches: (Event) -> Bool) async {
        for await event in events where matches(event) { return }
    }
}
