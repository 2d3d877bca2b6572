internal import CEpoll
internal import CMicrohttpd
internal import GannetBase

/// A daemon of libmicrohttpd, and the thread that waits for its connections and runs it. Several share one listening socket. The daemon's calls
/// have this object for their context.
///
/// libmicrohttpd does not look at connections that sleep, so the thread also hears when their clients leave. A client that closes its sending
/// side only counts as one that has left.
final class ServerThread: @unchecked Sendable {
    let core: ServiceCore
    private let wakeup: Wakeup
    /// An epoll of the connections that sleep.
    private let sleepers: Int32
    private let departures = Mutex<[Int32: @Sendable () -> Void]>([:])
    private let isOver = SharedFlag()
    // Set at the beginning. The thread alone uses the daemon until it has ended, but for calls that libmicrohttpd allows from everywhere.
    private var daemon: OpaquePointer?
    private var thread: OwnedThread?

    /// Bytes for the head of a request and for that of its answer.
    private static let memoryForHead = 32 * 1024
    /// Waits no longer than this for a daemon that says nothing, in milliseconds.
    private static let longestWait: Int32 = 1000

    /// - Parameter first: The thread whose socket this one shares. Without it, this thread listens, and looks through all requests each second.
    init(_ core: ServiceCore, on address: SocketAddress, beside first: ServerThread?) throws(HTTPServiceFailure) {
        errno = 0
        guard let wakeup = Wakeup() else { throw .system(errno) }
        self.core = core
        self.wakeup = wakeup
        sleepers = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard sleepers >= 0 else { throw .system(errno) }
        // Each daemon closes its socket at its end.
        let shared = first.map { fcntl($0.socket, F_DUPFD_CLOEXEC, 0) }
        guard shared != -1 else { throw .system(errno) }
        daemon = start(address, shared ?? -1)
        let epoll = daemon.map { gannet_http_epoll($0) } ?? -1
        let isFirst = first == nil
        if epoll >= 0 { thread = OwnedThread(name: "gannet-http") { self.run(epoll, looksThrough: isFirst) } }
        guard thread != nil else {
            let code = errno
            if let daemon { MHD_stop_daemon(daemon) } else if let shared { close(shared) }
            throw .system(code)
        }
    }

    deinit { if sleepers >= 0 { close(sleepers) } }

    private func start(_ address: SocketAddress, _ socket: Int32) -> OpaquePointer? {
        let options = core.options
        func start(_ certificate: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?) -> OpaquePointer? {
            let connections = (options.connections + options.connectionsToRefuse) / max(1, options.threads)
            // This server answers a client that sends no more of its body. libmicrohttpd would only close the connection, and so it waits longer.
            let idle = options.withoutTraffic + .seconds(2)
            var given = gannet_http_options(
                connections: UInt32(clamping: connections), idle_seconds: UInt32(clamping: Int(idle / .seconds(1))),
                memory: Self.memoryForHead, certificate: certificate, key: key)
            let context = Unmanaged.passUnretained(self).toOpaque()
            return address.withPointer { pointer, _ in
                gannet_http_start(pointer, socket, &given, acceptClient, readRequest, noteTarget, completeRequest, noteConnection, context)
            }
        }
        guard let tls = options.tls else { return start(nil, nil) }
        return tls.certificate.withCString { certificate in tls.key.withCString { start(certificate, $0) } }
    }

    /// The socket that it takes connections from.
    var socket: Int32 { daemon.map { gannet_http_socket($0) } ?? -1 }

    /// To be called when a connection goes on, because libmicrohttpd does not tell that.
    func wake() { wakeup.signal() }

    /// Closes all connections. Returns when the thread has ended. No connection may sleep any more.
    func stop() {
        isOver.set()
        wake()
        thread?.join()
        MHD_stop_daemon(daemon)
    }

    private func run(_ epoll: Int32, looksThrough: Bool) {
        var next = ContinuousClock.now + .seconds(1)
        while !isOver.isSet {
            var inboxes = [epoll, wakeup.readDescriptor, sleepers].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&inboxes, 3, gannet_http_time_left(daemon, Self.longestWait))
            if inboxes[1].revents != 0 { wakeup.reset() }
            if inboxes[2].revents != 0 { noteDepartures() }
            MHD_run(daemon)
            guard looksThrough, ContinuousClock.now >= next else { continue }
            core.lookThrough()
            next = .now + .seconds(1)
        }
    }

    // MARK: Clients that leave

    /// - Parameter action: Called on the thread when the client of this connection leaves.
    func watch(_ descriptor: Int32, _ action: @escaping @Sendable () -> Void) {
        departures.withLock { departures in
            departures[descriptor] = action
            var event = epoll_event()
            event.events = EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue
            event.data.u64 = UInt64(UInt32(bitPattern: descriptor))
            epoll_ctl(sleepers, EPOLL_CTL_ADD, descriptor, &event)
        }
    }

    func unwatch(_ descriptor: Int32) {
        departures.withLock { departures in
            departures[descriptor] = nil
            var none = epoll_event()
            epoll_ctl(sleepers, EPOLL_CTL_DEL, descriptor, &none)
        }
    }

    private func noteDepartures() {
        let left = withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { room in
            let count = epoll_wait(sleepers, room.baseAddress, Int32(room.count), 0)
            return room.prefix(max(0, Int(count))).map { Int32(bitPattern: UInt32(truncatingIfNeeded: $0.data.u64)) }
        }
        for descriptor in left {
            // The connection may have been woken since. Then its descriptor is not in the table.
            departures.withLock { $0.removeValue(forKey: descriptor) }?()
        }
    }
}

// MARK: Calls of libmicrohttpd, all of one connection on the same thread

private func serverThread(_ context: UnsafeMutableRawPointer) -> ServerThread {
    Unmanaged<ServerThread>.fromOpaque(context).takeUnretainedValue()
}

private func openClient(of connection: OpaquePointer) -> Client? {
    gannet_http_connection_context(connection).map { Unmanaged<Client>.fromOpaque($0).takeUnretainedValue() }
}

/// Whether a new connection may stay. libmicrohttpd calls `noteConnection` next if it may, before this thread accepts another one. Other
/// threads may accept one of the same address in between, so an address can have a connection more for each of them.
private func acceptClient(_ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ size: socklen_t) -> MHD_Result {
    guard let context, let address else { return .NO }
    return serverThread(context).core.clients.mayOpen(SocketAddress.text(of: address) ?? "") ? .YES : .NO
}

private func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ client: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ event: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let client else { return }
    let thread = serverThread(context)
    if event == .CONNECTION_NOTIFY_STARTED {
        let address = gannet_http_client(connection).flatMap { SocketAddress.text(of: $0) } ?? ""
        let opened = Client(descriptor: gannet_http_connection_socket(connection), address: address, thread)
        client.pointee = Unmanaged.passRetained(opened).toOpaque()
        thread.core.clients.opened(opened)
    } else if let pointer = client.pointee {
        client.pointee = nil
        thread.core.clients.closed(Unmanaged<Client>.fromOpaque(pointer).takeRetainedValue())
    }
}

/// The first line of a request has come. The pointer that this returns belongs to the request.
private func noteTarget(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let target, let connection, let client = openClient(of: connection) else { return nil }
    let request = ServedRequest(target, connection, of: client)
    serverThread(context).core.began(request)
    return Unmanaged.passRetained(request).toOpaque()
}

private func readRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?, _ uploadSize: UnsafeMutablePointer<Int>?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let method, let version, let uploadSize, let pointer = request?.pointee else { return .NO }
    if let client = openClient(of: connection) { serverThread(context).core.clients.began(client) }
    let piece = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    return Unmanaged<ServedRequest>.fromOpaque(pointer).takeUnretainedValue().read(method, version, piece, &uploadSize.pointee)
}

private func completeRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    guard let context, let connection, let request, let pointer = request.pointee else { return }
    request.pointee = nil
    let core = serverThread(context).core
    core.ended(Unmanaged<ServedRequest>.fromOpaque(pointer).takeRetainedValue())
    if let client = openClient(of: connection) { core.clients.ended(client) }
}
