import GannetBase
import GannetQueue

/// Tells that a command waits for Redis, and that Redis is back. It starts a private Redis again meanwhile.
final class RedisWatch: Sendable {
    private struct State {
        var words = OutageWords()
        /// A server of a cluster is away, and work goes on with the others.
        var isPart = false
        var revival: Task<Void, Never>?
    }

    private static let pauseBetweenStarts = Duration.seconds(10)

    private let console: Console
    /// `nil` for a Redis that is not private.
    private let own: PrivateRedis?
    private let state = Mutex(State())

    init(_ console: Console, own: PrivateRedis?) {
        self.console = console
        self.own = own
    }

    /// Whether Redis is known not to answer.
    var isAway: Bool { state.withLock { $0.words.isAway && !$0.isPart } }

    /// Whether a server of a cluster is known not to answer.
    var isPartAway: Bool { state.withLock { $0.words.isAway && $0.isPart } }

    @Sendable func note(_ outage: RedisOutage) {
        switch outage {
        case .began(let reason, let isPart):
            let word = state.withLock { state in
                state.isPart = isPart
                return state.words.began(at: .now)
            }
            guard let word else { return }
            let sentence = reason + (isPart ? "; work on the others goes on" : "")
            let facts: LogFacts = [(key: "event", value: "redisAway")]
            switch word {
            case .tell: console.warn("waiting for \(sentence)", facts)
            case .tellAfter(let untold):
                console.warn("waiting for \(sentence); it was away \(Amounts.count(untold, "more time")) since this was said last", facts)
            case .keep: break
            }
            guard let own else { return }
            let revival = Task { await revive(own) }
            state.withLock { $0.revival = revival }
        case .ended:
            let wasTold = state.withLock { state in
                state.revival?.cancel()
                state.revival = nil
                return state.words.ended()
            }
            if wasTold { console.warn("Redis is back; going on.", [(key: "event", value: "redisBack")]) }
        }
    }

    /// Ends the attempts to start a private Redis.
    func stop() {
        state.withLock { $0.revival?.cancel() }
    }

    /// Until Redis is back, or the command has ended.
    private func revive(_ own: PrivateRedis) async {
        while !Task.isCancelled {
            do {
                try await own.restartIfGone(console: console)
            } catch {
                console.warn(CommandFailure(error).message ?? "the private Redis cannot be started")
            }
            do { try await Task.sleep(for: Self.pauseBetweenStarts) } catch { return }
        }
    }
}
