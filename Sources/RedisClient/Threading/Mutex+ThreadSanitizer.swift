#if THREAD_SANITIZER
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Takes the place of `Synchronization.Mutex` where the thread sanitizer watches (`-Xswiftc -DTHREAD_SANITIZER`).
///
/// On Linux that one is a futex inside a library the sanitizer does not see into: everything it guards looks unguarded, and a real
/// race would drown in the reports.
struct Mutex<Value>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    init(_ initial: consuming sending Value) {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
#endif
