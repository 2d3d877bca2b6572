import GannetBase

/// Keys that are pressed at a terminal, and changes of its size.
///
/// One for each process, kept until it ends: its thread waits as long.
struct TerminalInput: Sendable {
    enum Event: Sendable, Equatable {
        case key(UInt8)
        case resized
    }

    let events: AsyncStream<Event>

    init() throws {
        guard let ends = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot watch the terminal: \(Descriptor.message(errno)).")
        }
        // A key that is held down must not fill the memory.
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(64))
        events = stream
        let input = Surroundings.current.input
        let keys = isatty(input) == 1 ? input : nil
        OwnedThread.start(name: "gannet-keys") { Self.read(ends.read, keys: keys, continuation) }
        Signals.forward([SIGWINCH], to: ends.write)
    }

    private static func read(_ resizes: Int32, keys: Int32?, _ continuation: AsyncStream<Event>.Continuation) {
        var sources = [pollfd(fd: resizes, events: Int16(POLLIN), revents: 0)]
        if let keys { sources.append(pollfd(fd: keys, events: Int16(POLLIN), revents: 0)) }
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            if poll(&sources, nfds_t(sources.count), -1) < 0, errno != EINTR { return continuation.finish() }
            for index in sources.indices.reversed() where sources[index].revents != 0 {
                let count = GannetBase.read(sources[index].fd, &bytes, bytes.count)
                if index == 0 {
                    continuation.yield(.resized)
                } else if count > 0 {
                    for byte in bytes[..<count] { continuation.yield(.key(byte)) }
                } else if count == 0 || errno != EINTR && errno != EAGAIN {
                    // The keyboard is gone; the screen may still be watched.
                    sources.remove(at: index)
                }
            }
        }
    }
}
