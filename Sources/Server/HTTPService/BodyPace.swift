/// How fast a client sends a body. A body that comes in drops would hold its connection for ever, whether anybody reads it or not.
///
/// Only the client's own time counts: a server that is slow to read makes no client slow. A struct without a clock.
struct BodyPace {
    typealias Instant = ContinuousClock.Instant

    /// The time that a client has at any rate.
    static let grace = Duration.seconds(30)
    /// Bytes a second that it has to send beyond that time.
    static let least = 64.0

    private var taken = 0
    private var waited = Duration.zero
    /// Since when it is the client's turn.
    private var since: Instant?

    init(at now: Instant) { since = now }

    /// A piece has come. False where the client is too slow.
    mutating func came(at now: Instant) -> Bool {
        if let since { waited += now - since }
        since = nil
        return Double(taken) >= (waited - Self.grace) / .seconds(1) * Self.least
    }

    /// The client has sent nothing for so long although it is its turn.
    func isStalled(at now: Instant, after limit: Duration) -> Bool { since.map { now - $0 >= limit } ?? false }

    /// The piece has been taken, and the client may send the next one.
    mutating func took(_ count: Int, at now: Instant) {
        taken += count
        since = now
    }
}
