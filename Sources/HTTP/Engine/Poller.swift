import CEpoll
internal import GannetBase

/// Waits for descriptors: those of libcurl and of the resolver, and the inbox.
///
/// The cost of waiting depends on the ready descriptors and not on the watched ones, so thousands of slow hosts do not slow down a busy one.
final class Poller {
    /// The part of the engine that a descriptor belongs to.
    enum Owner: UInt32 {
        case inbox = 1
        case transfers, resolver
    }

    struct Event {
        let descriptor: Int32
        let owner: Owner
        let isReadable: Bool
        let isWritable: Bool
        let hasFailed: Bool
    }

    private let epoll: Int32
    /// The events that the kernel knows of each descriptor, by its number.
    private var known: [UInt32] = []
    private let room = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 512)
    /// How many of them are ready and not taken.
    private var readyCount = 0

    /// Nil, and `errno` says why, when there is no descriptor for it.
    init?() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        if epoll < 0 {
            room.deallocate()
            return nil
        }
    }

    deinit {
        close(epoll)
        room.deallocate()
    }

    /// Watches the descriptor from now on for this and nothing else. False when the kernel will not.
    @discardableResult func watch(_ descriptor: Int32, _ owner: Owner, reads: Bool, writes: Bool) -> Bool {
        let events = (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        let entry = events | owner.rawValue << Self.ownerShift
        let index = Int(descriptor)
        if index >= known.count { known += [UInt32](repeating: 0, count: index + 64 - known.count) }
        if known[index] & ~Self.isIdle == entry {
            known[index] = entry
            return true
        }
        var event = epoll_event()
        event.events = events
        event.data.u64 = UInt64(owner.rawValue) << 32 | UInt64(UInt32(bitPattern: descriptor))
        let isKnown = known[index] != 0
        known[index] = entry
        if isKnown, epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0 { return true }
        // Perhaps a descriptor of the same number was closed unnoticed, and so left the set.
        return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 || epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0
    }

    /// Hears no more of the descriptor, if it is still the owner's. The kernel is told only when it reports an event of it.
    ///
    /// The connection of an ended transfer is soon used for the next. To tell the kernel twice for each would be a third of the kernel's work for
    /// a small transfer.
    func unwatch(_ descriptor: Int32, _ owner: Owner) {
        let index = Int(descriptor)
        guard index < known.count, known[index] != 0, known[index] >> Self.ownerShift & 3 == owner.rawValue else { return }
        known[index] |= Self.isIdle
    }

    /// To be called when the descriptor is closed: its number will be used again.
    func forget(_ descriptor: Int32) {
        let index = Int(descriptor)
        if index < known.count { known[index] = 0 }
    }

    /// Whether the descriptor is watched for reading and nothing else.
    func onlyReads(_ descriptor: Int32) -> Bool {
        let index = Int(descriptor)
        return index < known.count && known[index] & (EPOLLIN.rawValue | EPOLLOUT.rawValue | Self.isIdle) == EPOLLIN.rawValue
    }

    /// None of epoll's events.
    private static let isIdle: UInt32 = 1 << 27
    private static let ownerShift: UInt32 = 20

    /// Waits until something is ready or so many milliseconds have passed.
    func wait(milliseconds: Int32) {
        // Nothing but a signal can end it early, and its thread takes none.
        readyCount = max(0, Int(epoll_wait(epoll, room.baseAddress, Int32(room.count), milliseconds)))
    }

    /// Hands over what is ready since the last wait.
    func takeReady(_ body: (Event) -> Void) {
        defer { readyCount = 0 }
        for index in 0..<readyCount {
            let event = room[index]
            let descriptor = Int(UInt32(truncatingIfNeeded: event.data.u64))
            if descriptor < known.count, known[descriptor] & Self.isIdle != 0 {
                var none = epoll_event()
                _ = epoll_ctl(epoll, EPOLL_CTL_DEL, Int32(descriptor), &none)
                known[descriptor] = 0
                continue
            }
            guard let owner = Owner(rawValue: UInt32(event.data.u64 >> 32)) else { continue }
            body(
                Event(
                    descriptor: Int32(descriptor), owner: owner,
                    isReadable: event.events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0,
                    isWritable: event.events & EPOLLOUT.rawValue != 0, hasFailed: event.events & EPOLLERR.rawValue != 0))
        }
    }
}
