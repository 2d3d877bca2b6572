internal import RedisClient

/// Repeats a call that may be repeated, while Redis is away.
///
/// Every transition of the queue is safe to repeat, also when its first reply was lost after it had been carried out.
package struct Persistence: Sendable {
    /// How long an outage may last before the caller is told.
    package var patience: Duration

    /// The pause between attempts. The connection has a backoff of its own; this one is for errors that come at once.
    package var pause: Duration

    package init(patience: Duration = .seconds(60), pause: Duration = .milliseconds(200)) {
        self.patience = patience
        self.pause = pause
    }

    func callAsFunction<Answer>(_ call: () async throws(RedisError) -> Answer) async throws(RedisError) -> Answer {
        let deadline = ContinuousClock.now + patience
        while true {
            do throws(RedisError) {
                return try await call()
            } catch {
                guard error.isTransient, ContinuousClock.now + pause < deadline else { throw error }
            }
            do {
                try await Task.sleep(for: pause)
            } catch {
                throw RedisError(.cancelled)
            }
        }
    }
}
