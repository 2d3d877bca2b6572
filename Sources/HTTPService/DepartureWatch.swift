internal import GannetBasics

#if canImport(Glibc)
internal import CEpoll
#endif

/// A thread that hears when the client of a sleeping connection leaves, because libmicrohttpd does not look at such connections. Once a second it
/// also has the connections looked through that may have lasted too long.
///
/// A client that closes its sending side only counts as one that has left. (On macOS a client that leaves is noticed when its answer is sent.)
final class DepartureWatch: Sendable {
    private struct State {
        var actions: [Int32: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())
    private let isOver = SharedFlag()
    private let wakeup: Wakeup
    private let thread = Mutex<OwnedThread?>(nil)
    private let epoll: Int32

    /// Nil, and `errno` says why, when the system has no descriptor or thread left.
    /// - Parameter everySecond: Called on the thread.
    init?(everySecond: @escaping @Sendable () -> Void) {
        guard let wakeup = Wakeup() else { return nil }
        self.wakeup = wakeup
        #if canImport(Glibc)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { return nil }
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = UInt64(UInt32(bitPattern: wakeup.readDescriptor))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup.readDescriptor, &event)
        #else
        epoll = -1
        #endif
        // The thread holds this object until `stop()`.
        guard let thread = OwnedThread(name: "gannet-watch", { self.run(everySecond) }) else {
            #if canImport(Glibc)
            close(epoll)
            #endif
            return nil
        }
        self.thread.withLock { $0 = thread }
    }

    func add(_ descriptor: Int32, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.actions[descriptor] = action
            #if canImport(Glibc)
            var event = epoll_event()
            event.events = EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue
            event.data.u64 = UInt64(UInt32(bitPattern: descriptor))
            epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
            #endif
        }
    }

    func remove(_ descriptor: Int32) {
        state.withLock { state in
            state.actions[descriptor] = nil
            #if canImport(Glibc)
            var none = epoll_event()
            epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &none)
            #endif
        }
    }

    /// Returns when the thread has ended.
    func stop() {
        isOver.set()
        wakeup.signal()
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.join()
        #if canImport(Glibc)
        if running != nil { close(epoll) }
        #endif
    }

    private func run(_ everySecond: () -> Void) {
        var next = ContinuousClock.now + .seconds(1)
        while !isOver.isSet {
            for descriptor in wait(until: next) {
                // The connection may have been woken since. Then its descriptor is not in the table.
                state.withLock { $0.actions.removeValue(forKey: descriptor) }?()
            }
            guard ContinuousClock.now >= next else { continue }
            everySecond()
            next = .now + .seconds(1)
        }
    }

    /// The descriptors whose clients have left.
    private func wait(until time: ContinuousClock.Instant) -> [Int32] {
        let milliseconds = Int32(max(.zero, time - .now) / .milliseconds(1)) + 1
        #if canImport(Glibc)
        return withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { room in
            let count = epoll_wait(epoll, room.baseAddress, Int32(room.count), milliseconds)
            return room.prefix(max(0, Int(count))).map { Int32(bitPattern: UInt32(truncatingIfNeeded: $0.data.u64)) }
        }
        #else
        var inbox = pollfd(fd: wakeup.readDescriptor, events: Int16(POLLIN), revents: 0)
        poll(&inbox, 1, milliseconds)
        return []
        #endif
    }
}
