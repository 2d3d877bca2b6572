import GannetBase
import GannetQueue

/// Tells that a command waits for Redis, and that Redis is back. It starts a private Redis again meanwhile.
final class RedisWatch: Sendable {
    private static let pauseBetweenStarts = Duration.seconds(10)

    private let console: Console
    /// `nil` for a Redis that is not private.
    private let own: PrivateRedis?
    private let state = Mutex(OutageWords())

    init(_ console: Console, own: PrivateRedis?) {
        self.console = console
        self.own = own
    }

    /// Whether Redis is known not to answer.
    var isAway: Bool { state.withLock { $0.isAway && !$0.isPart } }

    /// Whether a server of a cluster is known not to answer.
    var isPartAway: Bool { state.withLock { $0.isAway && $0.isPart } }

    @Sendable func note(_ outage: RedisOutage) {
        switch outage {
        case .began(let reason, let isPart):
            let (wasAway, untold) = state.withLock { ($0.isAway, $0.began(isPart: isPart, at: .now)) }
            if let untold {
                let often = untold > 0 ? "; it was away \(Amounts.count(untold, "more time")) since this was said last" : ""
                console.warn(
                    "waiting for \(reason)\(isPart ? "; work on the others goes on" : "")\(often)", [(key: "event", value: "redisAway")])
            }
            guard !wasAway, let own else { return }
            let revival = Task { await revive(own) }
            state.withLock { $0.revival = revival }
        case .ended:
            let wasTold = state.withLock { state in
                state.revival?.cancel()
                state.revival = nil
                return state.ended()
            }
            if wasTold { console.warn("Redis is back; going on.", [(key: "event", value: "redisBack")]) }
        }
    }

    func stop() { state.withLock { $0.revival?.cancel() } }

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

/// Decides whether an outage of Redis is told: each one, unless there is one after the other.
struct OutageWords: Sendable {
    private(set) var isAway = false
    /// A server of a cluster is away, and work goes on with the others.
    private(set) var isPart = false
    fileprivate var revival: Task<Void, Never>?
    private var isTold = false
    private var limit = ComplaintLimit(atFirst: 5, aMinute: 1)

    /// - Returns: How many outages before this one were not told; `nil` where this one is not told either, or Redis was away already.
    mutating func began(isPart: Bool = false, at now: ContinuousClock.Instant) -> Int? {
        self.isPart = isPart
        if isAway { return nil }
        isAway = true
        let untold = limit.note(at: now)
        isTold = untold != nil
        return untold
    }

    /// - Returns: Whether people have been told that Redis was away.
    mutating func ended() -> Bool {
        defer { (isAway, isTold) = (false, false) }
        return isTold
    }
}
