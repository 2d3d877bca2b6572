#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A thread of our own for code that owns a C handle or blocks, so that neither ever sits on Swift's few shared threads.
enum OwnedThread {
    /// Runs `body` on a new thread. Every signal is blocked there: SIGPIPE becomes an error code, and the program's own signals
    /// reach the thread that expects them.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let box = Unmanaged.passRetained(Body(name: name, body))
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let result = pthread_create(&thread, nil, threadMain, box.toOpaque())
        precondition(result == 0, "The system gives no further thread: \(systemMessage(result)).")
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
    }

    fileprivate final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }
}

#if canImport(Glibc)
private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let body = Unmanaged<OwnedThread.Body>.fromOpaque(argument).takeRetainedValue()
    // glibc's call for this is hidden from Swift; the kernel offers the same as a file.
    let name = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    if name >= 0 {
        _ = write(name, body.name, body.name.utf8.count)
        close(name)
    }
    body.run()
    return nil
}
#else
private func threadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let body = Unmanaged<OwnedThread.Body>.fromOpaque(argument).takeRetainedValue()
    pthread_setname_np(body.name)
    body.run()
    return nil
}
#endif
