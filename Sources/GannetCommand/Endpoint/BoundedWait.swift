import Dispatch
internal import GannetBasics

/// Has a thread that is none of Swift's own wait for a task.
enum BoundedWait {
    /// `nil` when it has not come to its end in time; it is cancelled then.
    static func result<Value: Sendable>(
        within time: Duration, _ body: @escaping @Sendable () async -> Value
    ) -> Value? {
        let result = Mutex<Value?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let task = Task {
            let value = await body()
            result.withLock { $0 = value }
            isDone.signal()
        }
        guard isDone.wait(timeout: .now() + .milliseconds(Int(time / .milliseconds(1)))) == .success else {
            task.cancel()
            return nil
        }
        return result.withLock { $0 }
    }
}
