/// How many bytes may come by now, so that so many a second are not exceeded: a token bucket. It takes times and has no clock.
///
/// In any span of time it grants the limit times the span, and one burst, at most.
struct SpeedAllowance {
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

    /// Asks for bytes that have come, at most a piece. False when nothing is granted before `opens`.
    mutating func take(_ count: Int, at now: ContinuousClock.Instant) -> Bool {
        guard opens <= now else { return false }
        paidUntil = max(paidUntil, now) + Self.time(for: count, at: bytesPerSecond)
        return true
    }

    /// Never too short, so that roundings do not add up to a higher speed.
    private static func time(for count: Int, at bytesPerSecond: Int) -> Duration {
        .seconds(1) * count / bytesPerSecond + Duration(secondsComponent: 0, attosecondsComponent: 1)
    }
}

/// The speed limit of all transfers of an engine, for its thread alone. Decides which of them may take what has come.
///
/// A transfer that may not is paused and waits in a queue, and nobody overtakes it. Each turn is good for one piece: a transfer that has more
/// goes to the end of the queue. So transfers share the limit evenly, and none starves.
final class SpeedLimit {
    typealias Instant = ContinuousClock.Instant

    private var allowance: SpeedAllowance
    private var paused = WaitingQueue<UInt64>()
    /// The transfer that was told to go on and has not asked since. Newer versions of libcurl deliver some time after they were told.
    private var turn: UInt64?

    init(bytesPerSecond: Int, at now: Instant = .now) {
        allowance = SpeedAllowance(bytesPerSecond: bytesPerSecond, at: now)
    }

    /// Whether the transfer may take the bytes. If not, it is paused until `next` names it, and then offered them again.
    func admits(_ id: UInt64, _ count: Int, at now: Instant = .now) -> Bool {
        let isItsTurn = turn == id
        if isItsTurn { turn = nil }
        if isItsTurn || turn == nil && paused.isEmpty, allowance.take(count, at: now) { return true }
        paused.append(id, id: id)
        return false
    }

    /// The transfer that is to go on now, the longest paused one. There is no other until it has asked or is forgotten.
    func next(at now: Instant = .now) -> UInt64? {
        guard turn == nil, allowance.opens <= now else { return nil }
        turn = paused.popFirst()
        return turn
    }

    /// When `next` may name a transfer; nil while none is paused.
    var deadline: Instant? { turn == nil && !paused.isEmpty ? allowance.opens : nil }

    /// The transfer has ended, or goes on to another host.
    func forget(_ id: UInt64) {
        if turn == id { turn = nil }
        _ = paused.remove(id)
    }
}
