internal import RedisClient

/// Repeats a call that may be repeated, while Redis is away.
///
/// Every transition of the queue is safe to repeat, also when its first reply was lost after it had been carried out.
package struct Persistence: Sendable {
    /// How long an outage may last before the caller is told.
    package var patience: Duration

    /// The pause between attempts. The connection has a backoff of its own; this one is for errors that come at once.
    package var pause: Duration

    /// Told once when waiting begins and once when it has ended well.
    package var listener: OutageListener?

    package init(patience: Duration = .seconds(60), pause: Duration = .milliseconds(200), listener: OutageListener? = nil) {
        self.listener = listener
        self.patience = patience
        self.pause = pause
    }

    package func callAsFunction<Answer>(_ call: () async throws(StateError) -> Answer) async throws(StateError) -> Answer {
        var isWaiting = false
        let deadline = ContinuousClock.now + patience
        while true {
            do throws(StateError) {
                let answer = try await call()
                if isWaiting { listener?(nil) }
                return answer
            } catch {
                guard case .redis(let reason) = error, reason.isTransient, ContinuousClock.now + pause < deadline else { throw error }
                if !isWaiting { listener?(reason) }
                isWaiting = true
            }
            do {
                try await Task.sleep(for: pause)
            } catch {
                throw .redis(RedisError(.cancelled))
            }
        }
    }
}
