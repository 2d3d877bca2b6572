internal import CMicrohttpd
internal import GannetBase

/// A daemon of libmicrohttpd, and the thread that waits for its connections and runs it. Several share one listening socket.
final class ServerThread: @unchecked Sendable {
    // The daemon is used by the thread alone until that has ended, but for calls that libmicrohttpd allows from everywhere.
    private let daemon: OpaquePointer
    private let context: Unmanaged<ThreadContext>
    private let isOver = SharedFlag()
    private let thread = Mutex<OwnedThread?>(nil)

    /// Waits no longer than this for a daemon that says nothing, in milliseconds.
    private static let longestWait: Int32 = 1000

    /// Takes the daemon over, which has not run yet. Nil, and `errno` says why, when the system has no thread left.
    /// - Parameter context: Released at the end. Its wake-up is signalled when a connection goes on, because libmicrohttpd does not tell that.
    init?(_ daemon: OpaquePointer, _ context: Unmanaged<ThreadContext>) {
        self.daemon = daemon
        self.context = context
        let epoll = gannet_http_epoll(daemon)
        // The thread holds this object until `stop()`.
        guard epoll >= 0, let thread = OwnedThread(name: "gannet-http", { self.run(epoll) }) else {
            MHD_stop_daemon(daemon)
            return nil
        }
        self.thread.withLock { $0 = thread }
    }

    /// The socket that it takes connections from.
    var socket: Int32 { gannet_http_socket(daemon) }

    /// Closes all connections. Returns when the thread has ended. No connection may sleep any more.
    func stop() {
        isOver.set()
        context.takeUnretainedValue().wakeup.signal()
        thread.withLock { $0 }?.join()
        MHD_stop_daemon(daemon)
        context.release()
    }

    private func run(_ epoll: Int32) {
        let wakeup = context.takeUnretainedValue().wakeup
        while !isOver.isSet {
            var inboxes = [epoll, wakeup.readDescriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&inboxes, 2, gannet_http_time_left(daemon, Self.longestWait))
            if inboxes[1].revents != 0 { wakeup.reset() }
            MHD_run(daemon)
        }
    }
}
