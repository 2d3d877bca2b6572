internal import CMicrohttpd
internal import GannetBase

/// A small HTTP server in this process. A function decides how each request is answered: at once, or by a task. libmicrohttpd reads the requests,
/// which strangers send.
///
/// ```
///  a server thread:  head ─▶ handler ─▶ now ───────────────────▶ answer
///                               └─▶ later: the connection sleeps ─▶ answer
///  Swift's tasks:                      └─▶ work ──────┘ wakes it     └─▶ a stream, piece by piece
/// ```
///
/// A few threads share the connections, and a slow answer delays no other. Another thread hears when clients leave that wait for an answer.
/// The number of connections is bounded, and so are the times in which nothing comes.
package final class HTTPService: Sendable {
    package typealias Handler = @Sendable (HTTPServiceRequest) -> HTTPServiceReply

    /// The port that the server listens on.
    package let port: UInt16

    private let parts: Parts
    private let threads: Mutex<[ServerThread]>

    /// Starts the server.
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address, without brackets.
    ///   - port: 0 takes a free port.
    package init(
        address: String, port: UInt16, _ options: HTTPServiceOptions = HTTPServiceOptions(), _ handler: @escaping Handler
    ) throws(HTTPServiceFailure) {
        guard let storage = SocketAddress(address, port: port) else {
            throw HTTPServiceFailure("'\(address)' is not an IP address.")
        }
        errno = 0
        let bounds = ClientBounds(
            connections: options.connections, each: options.each, withoutRequest: options.withoutRequest, fresh: options.fresh)
        let clients = Clients(bounds, options.counts)
        let requests = OpenRequests()
        let isEnding = SharedFlag()
        let watch = DepartureWatch {
            clients.closeOverdue()
            requests.lookThrough(options, isEnding: isEnding.isSet)
        }
        guard let watch else { throw HTTPServiceFailure("Cannot listen on \(address) port \(port): \(Descriptor.message(errno)).") }
        let parts = Parts(handler, clients, requests, watch, options, isEnding)
        let threads = Self.start(storage, options, parts)
        guard let first = threads.first else {
            let code = errno
            watch.stop()
            let reason = code == 0 ? "the address cannot be listened on" : Descriptor.message(code)
            throw HTTPServiceFailure("Cannot listen on \(address) port \(port): \(reason).")
        }
        self.parts = parts
        self.port = SocketAddress.port(ofSocket: first.socket) ?? port
        self.threads = Mutex(threads)
    }

    deinit { stop() }

    /// - Returns: Nothing where not all threads could be started; `errno` says why.
    private static func start(_ address: SocketAddress, _ options: HTTPServiceOptions, _ parts: Parts) -> [ServerThread] {
        var threads: [ServerThread] = []
        while threads.count < max(1, options.threads) {
            // Each daemon closes its socket at its end.
            let socket = threads.first.map { fcntl($0.socket, F_DUPFD_CLOEXEC, 0) }
            let context = Wakeup().map { Unmanaged.passRetained(ThreadContext(parts, $0)) }
            let daemon = socket == -1 ? nil : context.flatMap { Self.daemon(address, socket ?? -1, options, $0.toOpaque()) }
            guard let context, let daemon, let thread = ServerThread(daemon, context) else {
                let code = errno
                context?.release()
                if daemon == nil, let socket, socket >= 0 { close(socket) }
                for thread in threads { thread.stop() }
                errno = code
                return []
            }
            threads.append(thread)
        }
        return threads
    }

    private static func daemon(
        _ address: SocketAddress, _ socket: Int32, _ options: HTTPServiceOptions, _ context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        func start(_ certificate: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?) -> OpaquePointer? {
            let connections = (options.connections + options.connectionsToRefuse) / max(1, options.threads)
            // This server answers a client that sends no more of its body. libmicrohttpd would only close the connection, and so it waits longer.
            let idle = options.withoutTraffic + .seconds(2)
            var given = gannet_http_options(
                connections: UInt32(clamping: connections), idle_seconds: UInt32(clamping: Int(idle / .seconds(1))),
                memory: options.memoryForHead, certificate: certificate, key: key)
            return address.withPointer { pointer, _ in
                gannet_http_start(pointer, socket, &given, acceptClient, readRequest, noteTarget, completeRequest, noteConnection, context)
            }
        }
        guard let tls = options.tls else { return start(nil, nil) }
        return tls.certificate.withCString { certificate in tls.key.withCString { start(certificate, $0) } }
    }

    /// The requests whose answers have not been sent whole. Streams that end with the server alone do not count.
    package var openRequests: Int { threads.withLock { $0.isEmpty } ? 0 : parts.requests.count }

    /// Takes no more connections, and lets requests that are under way come to their end. Returns when no connection is left, or the task is
    /// cancelled. `stop` has to follow.
    package func drain() async {
        guard threads.withLock({ !$0.isEmpty }) else { return }
        parts.isEnding.set()
        await parts.clients.drain()
    }

    /// Ends it. Connections are closed, and the tasks that make answers are cancelled.
    package func stop() {
        let running = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        guard !running.isEmpty else { return }
        parts.requests.end()
        for thread in running { thread.stop() }
        parts.watch.stop()
    }
}

/// Bounds of a server.
package struct HTTPServiceOptions: Sendable {
    /// The threads that serve connections. Each has its share of them, and calls the handler.
    package var threads = 1
    /// The most connections at a time. When all are taken, an idle one makes room for a new one. Where none is idle, the new one is refused.
    package var connections = 128
    /// The most connections of one address, so that no client keeps the others out. When it has as many, an idle one of them makes room for
    /// its new one. nil sets no such limit.
    package var each: Int?
    /// A connection ends when it carries nothing for so long while bytes are to come or to go.
    package var withoutTraffic = Duration.seconds(30)
    /// The same for bodies of requests, and for clients of endless answers, while the server drains.
    package var withoutTrafficAtEnd = Duration.seconds(10)
    /// A connection ends when it brings no whole head of a request for so long.
    package var withoutRequest = Duration.seconds(30)
    /// For how long a new connection makes no room for others: its first request is on its way.
    package var fresh = Duration.seconds(1)
    /// Bytes for the head of a request and for that of its answer.
    package var memoryForHead = 32 * 1024
    /// Where the server counts what it does.
    package var counts = HTTPServiceCounts()
    /// A certificate chain and its key, as PEM. Without them the server speaks plain HTTP.
    package var tls: (certificate: String, key: String)?

    package init() {}

    /// libmicrohttpd accepts nothing when its own bound is reached, and clients would wait for nothing. So that bound is higher, and
    /// connections beyond `connections` are refused, or an idle one makes room. Each thread has its share of the bound.
    fileprivate var connectionsToRefuse: Int { max(threads, connections / 8) }
}

/// The sentence that says why the server cannot listen.
package struct HTTPServiceFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The parts of a server that libmicrohttpd's calls need.
private final class Parts: Sendable {
    let handler: HTTPService.Handler
    let clients: Clients
    let requests: OpenRequests
    let watch: DepartureWatch
    let counts: HTTPServiceCounts
    let hasTLS: Bool
    /// Connections end with their answers.
    let isEnding: SharedFlag

    init(
        _ handler: @escaping HTTPService.Handler, _ clients: Clients, _ requests: OpenRequests, _ watch: DepartureWatch,
        _ options: HTTPServiceOptions, _ isEnding: SharedFlag
    ) {
        self.handler = handler
        self.clients = clients
        self.requests = requests
        self.watch = watch
        self.isEnding = isEnding
        counts = options.counts
        hasTLS = options.tls != nil
    }

    static func of(_ context: UnsafeMutableRawPointer) -> Parts { ThreadContext.of(context).parts }
}

/// The context of all calls of one thread's daemon.
final class ThreadContext: Sendable {
    fileprivate let parts: Parts
    let wakeup: Wakeup

    fileprivate init(_ parts: Parts, _ wakeup: Wakeup) {
        self.parts = parts
        self.wakeup = wakeup
    }

    static func of(_ context: UnsafeMutableRawPointer) -> ThreadContext {
        Unmanaged<ThreadContext>.fromOpaque(context).takeUnretainedValue()
    }
}

/// The requests that are not answered yet. libmicrohttpd cannot end while connections sleep.
private final class OpenRequests: Sendable {
    private struct State {
        var requests: [ObjectIdentifier: ServedRequest] = [:]
        var isOver = false
    }

    private let state = Mutex(State())

    func add(_ request: ServedRequest) {
        let isOver = state.withLock { state in
            state.requests[ObjectIdentifier(request)] = request
            return state.isOver
        }
        if isOver { request.leave() }
    }

    var count: Int { all.count { !$0.isEndless } }

    private var all: [ServedRequest] { state.withLock { Array($0.requests.values) } }

    func remove(_ request: ServedRequest) { state.withLock { $0.requests[ObjectIdentifier(request)] = nil } }

    /// Answers for tasks that are late, and ends requests whose clients stall.
    func lookThrough(_ options: HTTPServiceOptions, isEnding: Bool) {
        let now = ContinuousClock.now
        for request in all {
            request.answerIfLate(now)
            request.endIfStalled(now, after: isEnding ? options.withoutTrafficAtEnd : options.withoutTraffic, isEnding: isEnding)
        }
    }

    func end() {
        let requests = state.withLock { state in
            state.isOver = true
            return Array(state.requests.values)
        }
        for request in requests { request.leave() }
    }
}

// MARK: Calls of libmicrohttpd, all of one connection on the same thread

/// Whether a new connection may stay. libmicrohttpd calls `noteConnection` next if it may, before this thread accepts another one. Other
/// threads may accept one of the same address in between, so an address can have a connection more for each of them.
private func acceptClient(_ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ size: socklen_t) -> MHD_Result {
    guard let context, let address else { return .NO }
    return Parts.of(context).clients.mayOpen(SocketAddress.text(of: address) ?? "") ? .YES : .NO
}

private func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ client: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ event: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let client else { return }
    let parts = Parts.of(context)
    if event == .CONNECTION_NOTIFY_STARTED {
        let address = gannet_http_client(connection).flatMap { SocketAddress.text(of: $0) } ?? ""
        let opened = Client(
            descriptor: gannet_http_connection_socket(connection), address: address, hasTLS: parts.hasTLS, ThreadContext.of(context).wakeup)
        client.pointee = Unmanaged.passRetained(opened).toOpaque()
        parts.clients.opened(opened)
    } else if let pointer = client.pointee {
        let closed = Unmanaged<Client>.fromOpaque(pointer).takeRetainedValue()
        client.pointee = nil
        parts.clients.closed(closed)
    }
}

/// The first line of a request has come. The pointer that this returns belongs to the request.
private func noteTarget(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let target, let connection, let pointer = gannet_http_connection_context(connection) else { return nil }
    let client = Unmanaged<Client>.fromOpaque(pointer).takeUnretainedValue()
    let parts = Parts.of(context)
    let request = ServedRequest(
        target, connection, of: client, parts.watch, parts.counts, isEnding: parts.isEnding, parts.handler)
    parts.requests.add(request)
    parts.counts.note { $0.requests += 1 }
    return Unmanaged.passRetained(request).toOpaque()
}

private func readRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?, _ uploadSize: UnsafeMutablePointer<Int>?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let method, let version, let uploadSize, let pointer = request?.pointee else { return .NO }
    if let client = gannet_http_connection_context(connection) {
        Parts.of(context).clients.began(Unmanaged<Client>.fromOpaque(client).takeUnretainedValue())
    }
    let piece = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    return Unmanaged<ServedRequest>.fromOpaque(pointer).takeUnretainedValue()
        .read(connection, method, version, piece, &uploadSize.pointee)
}

private func completeRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    guard let context, let connection, let request, let pointer = request.pointee else { return }
    request.pointee = nil
    let parts = Parts.of(context)
    let served = Unmanaged<ServedRequest>.fromOpaque(pointer).takeRetainedValue()
    parts.requests.remove(served)
    served.completed()
    parts.counts.note { $0.requests -= 1 }
    if let client = gannet_http_connection_context(connection) {
        parts.clients.ended(Unmanaged<Client>.fromOpaque(client).takeUnretainedValue())
    }
}
