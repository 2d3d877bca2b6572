internal import GannetRedisClient

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

    /// The servers that calls may wait for. With them the listener hears of a server that is away before the call fails.
    var servers: ServerWatch?

    /// For calls that go on without a server that is away.
    var withoutServers: Persistence {
        var copy = self
        copy.servers = nil
        return copy
    }

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
                let answer = try await telling(&isWaiting, call)
                // A call that is cancelled may end with what it has, while Redis is still away.
                if isWaiting, !Task.isCancelled { listener?(.ended) }
                return answer
            } catch {
                guard let reason = error.redis, reason.isTransient, ContinuousClock.now + pause < deadline else { throw error }
                if !isWaiting { listener?(outage(because: reason)) }
                isWaiting = true
            }
            try await StateError.mapping { try await Task.sleep(for: pause) }
        }
    }

    /// Makes the call once. The listener hears meanwhile of a server that is away. It may be another one than the call waits for: then the call ends
    /// without a wait.
    private func telling<Answer, Failure: Error>(
        _ isTold: inout Bool, _ call: () async throws(Failure) -> Answer
    ) async throws(StateError) -> Answer {
        guard !isTold, patience > .zero, let listener, let servers else { return try await StateError.mapping(call) }
        let (result, hasTold) = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                guard let reason = try? await servers.absence() else { return false }
                listener(outage(because: reason))
                return true
            }
            let result: Result<Answer, StateError>
            do throws(StateError) { result = .success(try await StateError.mapping(call)) } catch { result = .failure(error) }
            group.cancelAll()
            return (result, await group.next() ?? false)
        }
        isTold = hasTold
        return try result.get()
    }

    private func outage(because reason: RedisError) -> RedisOutage {
        let place = servers?.words(about: reason).map { "; \($0)" } ?? ""
        // A part of the work waits as long as it takes, and the rest goes on.
        if patience >= Self.endless { return RedisOutage(reason, addition: place, isPart: true) }
        return RedisOutage(reason, addition: "\(place); this goes on for up to \(patience.components.seconds) s")
    }

    /// The patience of a caller that waits as long as it takes.
    package static let endless = Duration.seconds(365 * 86_400)
}

/// The answer to a question, or `nil` where there is none in time. The question is cancelled then.
package func inTime<Answer: Sendable>(
    _ time: Duration, _ question: @escaping @Sendable () async throws -> Answer?
) async throws -> Answer? {
    try await withThrowingTaskGroup(of: Answer?.self) { group in
        defer { group.cancelAll() }
        group.addTask(operation: question)
        group.addTask {
            try? await Task.sleep(for: time)
            return nil
        }
        return try await group.next() ?? nil
    }
}

/// The servers of a namespace, for words about those that are away.
struct ServerWatch: Sendable {
    let connection: RedisConnection
    let partitions: [Partition]

    /// Returns when one of them has been away for longer than people wait without a word.
    func absence() async throws -> RedisError { try await connection.absence(ofServersWith: partitions.map(\.keys.state)) }

    /// `it has partitions 3, 4 and 5 of 16`, or `it moves partition 3 of 16`; `nil` where there is one partition, or the error is about no server of a cluster.
    func words(about error: RedisError) -> String? {
        guard connection.isCluster, partitions.count > 1 else { return nil }
        let away = partitions.filter { partition in
            if error.kind == .tryAgain { return HashSlot(of: partition.keys.state) == error.slot }
            guard let primary = connection.primary(of: partition.keys.state) else { return error.kind == .clusterDown }
            return primary.failure != nil && primary.address.description == error.server
        }
        guard let last = away.last?.index else { return nil }
        let others = away.dropLast().map { "\($0.index)" }.joined(separator: ", ")
        return
            "it \(error.kind == .tryAgain ? "moves" : "has") partition\(others.isEmpty ? " " : "s \(others) and ")\(last) of \(partitions.count)"
    }
}

/// The beginning or the end of a time without Redis.
package enum RedisOutage: Sendable, Equatable {
    /// The sentence has no full stop and no advice: `Redis at redis://h: cannot be reached (Connection refused)`.
    /// - Parameter isPart: A server of a cluster is away, and the work on the partitions of the others goes on.
    case began(sentence: String, isPart: Bool = false)
    case ended

    package init(_ error: StateError) {
        switch error {
        case .partAway(let words, let redis): self = Self(redis, addition: "; \(words)", isPart: true)
        default: self = error.redis.map { Self($0) } ?? .began(sentence: error.description)
        }
    }

    /// Describes the outage in the present tense and without advice, because the caller has not given up.
    /// - Parameter addition: Stands behind it.
    init(_ error: RedisError, addition: String = "", isPart: Bool = false) {
        var unnamed = error
        unnamed.server = ""
        var text = error.kind == .unavailable && !error.detail.isEmpty ? error.detail : unnamed.description
        // The first sentence says what happened. The rest is advice.
        if let end = text.firstRange(of: ". ") { text = String(text[..<end.lowerBound]) }
        if text.hasPrefix("Redis ") { text = String(text.dropFirst("Redis ".count)) }
        // Behind the colon it is no beginning of a sentence.
        if text.hasPrefix("No Sentinel") { text = "n" + text.dropFirst() }
        if text.hasSuffix(".") { text.removeLast() }
        self = .began(sentence: (error.server.isEmpty ? "Redis" : "Redis at \(error.server)") + ": " + text + addition, isPart: isPart)
    }
}
