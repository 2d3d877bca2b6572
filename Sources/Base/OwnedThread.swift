import Synchronization

/// A thread of our own, for code that owns a C handle or blocks in the kernel: neither may ever sit on Swift's few shared threads.
///
/// Every signal is blocked on it: SIGPIPE becomes an error code, and the program's own signals reach the thread that expects them.
package final class OwnedThread: Sendable {
    private let thread: pthread_t
    private let isJoined = Atomic(false)

    /// Runs `body`. Nil when the system has no thread to give. A thread that is never joined cleans up after itself.
    /// - Parameter name: For `top -H`; 15 bytes at most.
    package init?(name: String, _ body: @escaping @Sendable () -> Void) {
        // The new thread inherits the mask, so there is no moment in which it could receive a signal.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let start = Unmanaged.passRetained(Start(name: name, body))
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { runThread($0) }, start.toOpaque())
        guard result == 0 else {
            start.release()
            return nil
        }
        self.thread = thread
    }

    deinit {
        guard !isJoined.load(ordering: .relaxed) else { return }
        pthread_detach(thread)
    }

    /// Waits for its end; to be called once, and not on the thread itself.
    package func join() {
        isJoined.store(true, ordering: .relaxed)
        pthread_join(thread, nil)
    }

    /// Runs `body` on a thread that nobody waits for. Without a thread the program cannot go on.
    package static func start(name: String, _ body: @escaping @Sendable () -> Void) {
        guard OwnedThread(name: name, body) != nil else {
            fatalError("The system has no thread left for this process. Raise `ulimit -u`, or the container's limit on processes.")
        }
    }

    /// Waits for work that blocks or takes long, such as work on files.
    package static func run<Value: Sendable, Failure: Error>(
        name: String, _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await result(name: name, body).get()
    }

    package static func result<Value: Sendable, Failure: Error>(
        name: String, _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { continuation in
            start(name: name) { continuation.resume(returning: Result(catching: body)) }
        }
    }
}

private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    // glibc's call for this is hidden from Swift; the kernel offers the same as a file.
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
        _ = write(file, start.name, start.name.utf8.count)
        close(file)
    }
    start.body()
    return nil
}
