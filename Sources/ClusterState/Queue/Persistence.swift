internal import RedisClient

/// Hears when a call begins to wait for Redis, and when Redis is back.
package typealias OutageListener = @Sendable (RedisOutage) -> Void

/// Repeats a call while Redis is away. Every call of the queue is safe to repeat, also when it had been carried out and only its reply was
/// lost.
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

    /// One attempt.
    package static let once = Persistence(patience: .zero)

    package func callAsFunction<Answer, Failure: Error>(
        _ call: () async throws(Failure) -> Answer
    ) async throws(StateError) -> Answer {
        var isWaiting = false
        let deadline = ContinuousClock.now + patience
        while true {
            do throws(StateError) {
                let answer = try await StateError.mapping(call)
                if isWaiting { listener?(.ended) }
                return answer
            } catch {
                guard let reason = error.redis, reason.isTransient, ContinuousClock.now + pause < deadline else { throw error }
                if !isWaiting { listener?(RedisOutage(reason)) }
                isWaiting = true
            }
            try await StateError.mapping { try await Task.sleep(for: pause) }
        }
    }
}

/// The beginning or the end of a time without Redis.
package enum RedisOutage: Sendable, Equatable {
    /// Without its full stop, and without advice: `Redis at redis://h: cannot be reached (Connection refused)`.
    case began(sentence: String)
    case ended

    package init(_ error: StateError) { self = error.redis.map(Self.init) ?? .began(sentence: error.description) }

    /// Tells in the present what is the matter: a caller that waits has not given up, and needs no advice.
    init(_ error: RedisError) {
        var unnamed = error
        unnamed.server = ""
        var text = error.kind == .unavailable && !error.detail.isEmpty ? error.detail : unnamed.description
        // The first sentence says what happened. Advice follows it.
        if let end = text.firstRange(of: ". ") { text = String(text[..<end.lowerBound]) }
        if text.hasPrefix("Redis ") { text = String(text.dropFirst("Redis ".count)) }
        if text.hasSuffix(".") { text.removeLast() }
        self = .began(sentence: (error.server.isEmpty ? "Redis" : "Redis at \(error.server)") + ": " + text)
    }
}
