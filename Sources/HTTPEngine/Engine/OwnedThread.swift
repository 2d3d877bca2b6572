#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A thread that runs one function, and receives no signals: they are for the threads that expect them.
final class OwnedThread: Sendable {
    // pthread_t is a number on Linux and a pointer, which is not Sendable, on macOS.
    private let bits: UInt

    /// Nil when the system has no thread to give.
    init?(_ body: @escaping @Sendable () -> Void) {
        // The new thread inherits the mask, so there is no moment in which it could receive one.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let start = Unmanaged.passRetained(Start(body))
        #if canImport(Glibc)
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { runThread($0) }, start.toOpaque())
        let bits = UInt(thread)
        #else
        var thread: pthread_t?
        let result = pthread_create(&thread, nil, { runThread($0) }, start.toOpaque())
        let bits = UInt(bitPattern: thread)
        #endif
        guard result == 0 else {
            start.release()
            return nil
        }
        self.bits = bits
    }

    /// Waits for its end; to be called once, and not on the thread itself.
    func join() {
        #if canImport(Glibc)
        pthread_join(pthread_t(bits), nil)
        #else
        if let thread = pthread_t(bitPattern: bits) { pthread_join(thread, nil) }
        #endif
    }
}

private final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
