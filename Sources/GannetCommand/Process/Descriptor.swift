import GannetBasics

/// The few calls on file descriptors that need a loop around them.
enum Descriptor {
    /// Nil, or the errno that stopped it.
    static func writeAll(_ text: String, to descriptor: Int32) -> Int32? { writeAll(Array(text.utf8)[...], to: descriptor) }

    static func writeAll(_ data: ArraySlice<UInt8>, to descriptor: Int32) -> Int32? {
        var bytes = data
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                bytes = bytes.dropFirst(written)
            } else if errno == EAGAIN {
                // Someone else's end of a terminal or pipe may have been made non-blocking; it is ours too.
                wait(for: Int16(POLLOUT), on: descriptor, milliseconds: -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// False when the time ran out.
    @discardableResult
    static func wait(for events: Int16, on descriptor: Int32, milliseconds: Int32) -> Bool {
        var one = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&one, 1, milliseconds) != 0
    }

    static func message(_ code: Int32) -> String {
        String(cString: strerror(code))
    }

    /// A pipe that no child inherits unless it is handed over.
    static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard GannetBasics.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
