/// The calls on file descriptors that need a loop or a check around them.
package enum Descriptor {
    /// Nil, or the `errno` that stopped it.
    package static func writeAll(_ text: String, to descriptor: Int32) -> Int32? { writeAll(Array(text.utf8)[...], to: descriptor) }

    package static func writeAll(_ data: ArraySlice<UInt8>, to descriptor: Int32) -> Int32? {
        var bytes = data
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                bytes = bytes.dropFirst(written)
            } else if errno == EAGAIN {
                // Another process that shares the terminal or pipe may have made it non-blocking.
                wait(for: Int16(POLLOUT), on: descriptor, milliseconds: -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// False when the time ran out.
    @discardableResult
    package static func wait(for events: Int16, on descriptor: Int32, milliseconds: Int32) -> Bool {
        var one = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&one, 1, milliseconds) != 0
    }

    /// The system's sentence for an `errno`.
    package static func message(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes a descriptor non-blocking and keeps it out of child processes.
    package static func setFlags(of descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// A pipe that no child inherits unless it is handed over.
    package static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard openPipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

// Inside the type its own function hides that of C.
private func openPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { pipe(ends) }
