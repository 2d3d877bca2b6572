/// The signals of this process.
package enum Signals {
    /// From now on each of these signals writes its number, as one byte, to a descriptor. A full pipe loses a signal that earlier ones have
    /// announced already.
    /// - Parameter descriptor: A pipe's end to write to, which stays open. It no longer blocks.
    package static func forward(_ numbers: [Int32], to descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        for number in numbers {
            // Before the handler is set, so that the handler finds it.
            targets[Int(number)] = descriptor
            signal(number, forwardSignal)
        }
    }

    /// The same for SIGHUP, unless the process was started to ignore it (`nohup`).
    package static func forwardHangup(to descriptor: Int32) {
        let before = signal(SIGHUP, SIG_IGN)
        if unsafeBitCast(before, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) { forward([SIGHUP], to: descriptor) }
    }

    /// Lets the signals that end a process wait until ``release()``, on this thread and those that it makes.
    package static func hold() { mask(SIG_BLOCK) }

    package static func release() { mask(SIG_UNBLOCK) }

    private static func mask(_ how: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(how, &signals, nil)
    }

    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Swift's runtime takes SIGQUIT for a crash, prints a page of addresses, and goes on.
    package static func quitAsUsual() { signal(SIGQUIT, SIG_DFL) }
}

/// The descriptor for each signal.
private nonisolated(unsafe) let targets = {
    let targets = UnsafeMutablePointer<Int32>.allocate(capacity: 65)
    targets.initialize(repeating: -1, count: 65)
    return targets
}()

/// Only async-signal-safe calls: one write, with `errno` as it was found.
private func forwardSignal(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(targets[Int(number)], &byte, 1)
    errno = before
}
