/// How many bytes may come by now, so that so many a second are not exceeded: a token bucket. It takes times and has no clock.
///
/// In any span of time it grants the limit times the span, and one burst, at most.
struct SpeedAllowance {
    enum Answer: Equatable {
        case goOn
        /// Nothing is granted before this time.
        case pause(until: ContinuousClock.Instant)
    }

    /// libcurl delivers no more at a time (`CURL_MAX_WRITE_SIZE`), and a piece is granted whole. So no burst can be smaller.
    static let piece = 16 * 1024

    /// A limit that was not used for this long grants the bytes of this time at once.
    ///
    /// That makes up for the time in which the engine's thread is busy, with a slow disk for instance. A longer burst would fill the queues
    /// of the network that the limit is to keep free.
    static let burstTime = Duration.milliseconds(250)

    private let bytesPerSecond: Int
    /// How far grants may run ahead. The piece that is always granted is a part of the burst.
    private let lead: Duration
    /// When all granted bytes would have come at the limit.
    private var paidUntil: ContinuousClock.Instant

    init(bytesPerSecond: Int, at now: ContinuousClock.Instant) {
        self.bytesPerSecond = bytesPerSecond
        lead = max(.zero, Self.burstTime - Self.time(for: Self.piece, at: bytesPerSecond))
        paidUntil = now
    }

    /// From when on a piece is granted.
    var opens: ContinuousClock.Instant { paidUntil - lead }

    /// Asks for bytes that have come, at most a piece.
    mutating func take(_ count: Int, at now: ContinuousClock.Instant) -> Answer {
        guard opens <= now else { return .pause(until: opens) }
        paidUntil = max(paidUntil, now) + Self.time(for: count, at: bytesPerSecond)
        return .goOn
    }

    /// Never too short, so that roundings do not add up to a higher speed.
    private static func time(for count: Int, at bytesPerSecond: Int) -> Duration {
        .seconds(1) * count / bytesPerSecond + Duration(secondsComponent: 0, attosecondsComponent: 1)
    }
}
