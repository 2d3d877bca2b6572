#if THREAD_SANITIZER
/// A mutex whose lock the thread sanitizer sees. The standard library's mutex waits inside a library without instrumentation, so the sanitizer
/// takes all that it guards for races (Swift 6.3, Linux).
public struct Mutex<Value>: ~Copyable, @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    public init(_ value: sending Value) {
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1).deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
#else
public import Synchronization

/// A value that one thread at a time may touch: the standard library's, under a name that can be another's when the thread sanitizer
/// watches.
///
/// Public although no product offers it. The compiler (Swift 6.3) specialises no generic type of package access in another target, inlinable or not,
/// and then a lock takes 33 ns instead of 12.
public struct Mutex<Value>: ~Copyable, Sendable {
    @usableFromInline let mutex: Synchronization.Mutex<Value>

    @inlinable public init(_ value: sending Value) { mutex = Synchronization.Mutex(value) }

    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
}
#endif
