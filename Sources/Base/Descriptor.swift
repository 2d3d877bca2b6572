/// The calls on file descriptors that need a loop or a check around them.
package enum Descriptor {
    /// Nil, or the `errno` that stopped it.
    package static func writeAll(_ text: String, to descriptor: Int32) -> Int32? { writeAll(Array(text.utf8)[...], to: descriptor) }

    package static func writeAll(_ data: ArraySlice<UInt8>, to descriptor: Int32) -> Int32? {
        var bytes = data
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { writeOnce(descriptor, $0.baseAddress, $0.count) }
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

    /// Writes all of the bytes into a file from the given offset. False when that failed, and then `errno` says why.
    package static func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + done, bytes.count - done, off_t(offset + done)) }
            if count > 0 { done += count } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }

    /// Fills the buffer from the given offset of a file. Fewer bytes mean that the file ends there; nil that `errno` says why not.
    package static func read(into buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int) -> Int? {
        var done = 0
        while done < buffer.count {
            let count = pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { return nil }
        }
        return done
    }

    /// The bytes up to the end of a file or pipe, and no more than `limit`. Nil means that `errno` says why not.
    package static func contents(of descriptor: Int32, atMost limit: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit)
        var done = 0
        while done < limit {
            let count = bytes.withUnsafeMutableBytes { readOnce(descriptor, $0.baseAddress! + done, limit - done) }
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { return nil }
        }
        bytes.removeLast(limit - done)
        return bytes
    }

    /// The bytes of a file that has this many. Nil means that `errno` says why not: `EIO` for a shorter file.
    package static func contents(ofFile path: String, count: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let bytes = contents(of: descriptor, atMost: count)
        let code = errno
        close(descriptor)
        errno = bytes == nil ? code : EIO
        return bytes?.count == count ? bytes : nil
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

// Inside the type its own functions hide those of C.
private func openPipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { pipe(ends) }
private func readOnce(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int { read(descriptor, buffer, count) }
private func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(descriptor, bytes, count) }
