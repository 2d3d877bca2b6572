internal import RedisClient

/// Hears when a call begins to wait for Redis, and when Redis is back.
package typealias OutageListener = @Sendable (RedisOutage) -> Void

/// Repeats a call while Redis is away. Every call of the queue may be repeated, even when Redis carried it out and only the reply was lost.
package struct Persistence: Sendable {
    /// How long a call is repeated before its error reaches the caller.
    package var patience: Duration

    /// The pause between attempts. The connection has its own backoff; this pause is for errors that come at once.
    package var pause: Duration

    /// Called once when waiting begins, and once when the waiting call has succeeded.
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
    /// The sentence has no full stop and no advice: `Redis at redis://h: cannot be reached (Connection refused)`.
    case began(sentence: String)
    case ended

    package init(_ error: StateError) { self = error.redis.map(Self.init) ?? .began(sentence: error.description) }

    /// Describes the outage in the present tense and without advice, because the caller has not given up.
    init(_ error: RedisError) {
        var unnamed = error
        unnamed.server = ""
        var text = error.kind == .unavailable && !error.detail.isEmpty ? error.detail : unnamed.description
        // The first sentence says what happened. The rest is advice.
        if let end = text.firstRange(of: ". ") { text = String(text[..<end.lowerBound]) }
        if text.hasPrefix("Redis ") { text = String(text.dropFirst("Redis ".count)) }
        // Behind the colon it is no beginning of a sentence.
        if text.hasPrefix("No Sentinel") { text = "n" + text.dropFirst() }
        if text.hasSuffix(".") { text.removeLast() }
        self = .began(sentence: (error.server.isEmpty ? "Redis" : "Redis at \(error.server)") + ": " + text)
    }
}
