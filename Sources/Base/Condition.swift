/// A value that one thread at a time may touch, and that threads of our own sleep on until it is as they want it. Never to be waited for by
/// a task: it would hold one of Swift's few threads.
package final class Condition<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func withLock<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Blocks the thread until `answer` has one. It is asked at once, and again after each ``wake()``.
    package func wait<Result>(for answer: (inout Value) -> sending Result?) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = answer(&value) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Has one of the waiting threads look again.
    package func wake() { pthread_cond_signal(condition) }

    /// Has all waiting threads look again.
    package func wakeAll() { pthread_cond_broadcast(condition) }
}
