internal import CEpoll
internal import GannetBase

/// A thread that hears when the client of a sleeping connection leaves, because libmicrohttpd does not look at such connections. Once a second it
/// also has the connections looked through that may have lasted too long.
///
/// A client that closes its sending side only counts as one that has left.
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
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { return nil }
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = UInt64(UInt32(bitPattern: wakeup.readDescriptor))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup.readDescriptor, &event)
        // The thread holds this object until `stop()`.
        guard let thread = OwnedThread(name: "gannet-watch", { self.run(everySecond) }) else {
            close(epoll)
            return nil
        }
        self.thread.withLock { $0 = thread }
    }

    func add(_ descriptor: Int32, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.actions[descriptor] = action
            var event = epoll_event()
            event.events = EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue
            event.data.u64 = UInt64(UInt32(bitPattern: descriptor))
            epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        }
    }

    func remove(_ descriptor: Int32) {
        state.withLock { state in
            state.actions[descriptor] = nil
            var none = epoll_event()
            epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &none)
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
        if running != nil { close(epoll) }
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
        return withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { room in
            let count = epoll_wait(epoll, room.baseAddress, Int32(room.count), milliseconds)
            return room.prefix(max(0, Int(count))).map { Int32(bitPattern: UInt32(truncatingIfNeeded: $0.data.u64)) }
        }
    }
}
