import GannetBasics
import Synchronization

/// What comes from the person at a terminal: keys, and other sizes of the window.
///
/// One a process, kept until it ends: its thread waits for as long.
struct TerminalInput: Sendable {
    enum Event: Sendable, Equatable {
        case key(UInt8)
        case resized
    }

    let events: AsyncStream<Event>

    init() throws(CommandFailure) {
        guard let ends = Descriptor.pipe() else {
            throw CommandFailure(.unavailable, "Cannot watch the terminal: \(Descriptor.message(errno)).")
        }
        _ = fcntl(ends.write, F_SETFL, O_NONBLOCK)
        // Somebody leaning on a key must not fill the memory.
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(64))
        events = stream
        let hasKeys = isatty(STDIN_FILENO) == 1
        OwnedThread.start(name: "gannet-keys") { Self.read(ends.read, hasKeys: hasKeys, continuation) }
        resizes.store(ends.write, ordering: .sequentiallyConsistent)
        signal(SIGWINCH, noteResize)
    }

    private static func read(_ resizes: Int32, hasKeys: Bool, _ continuation: AsyncStream<Event>.Continuation) {
        var sources = [pollfd(fd: resizes, events: Int16(POLLIN), revents: 0)]
        if hasKeys { sources.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)) }
        var bytes = [UInt8](repeating: 0, count: 64)
        while true {
            if poll(&sources, nfds_t(sources.count), -1) < 0, errno != EINTR { return continuation.finish() }
            for index in sources.indices.reversed() where sources[index].revents != 0 {
                let count = GannetBasics.read(sources[index].fd, &bytes, bytes.count)
                if index == 0 {
                    continuation.yield(.resized)
                } else if count > 0 {
                    for byte in bytes[..<count] { continuation.yield(.key(byte)) }
                } else if count == 0 || errno != EINTR && errno != EAGAIN {
                    // The keyboard is gone; the screen may still be looked at.
                    sources.remove(at: index)
                }
            }
        }
    }
}

/// Where the handler writes; set before the handler is, so that the handler never initialises anything.
private let resizes = Atomic<Int32>(-1)

/// Only async-signal-safe calls. A full pipe says already what there is to say.
private func noteResize(_ number: Int32) {
    let before = errno
    var byte: UInt8 = 0
    _ = write(resizes.load(ordering: .relaxed), &byte, 1)
    errno = before
}
