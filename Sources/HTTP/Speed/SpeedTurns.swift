/// Decides which transfers may take what has come, so that all together keep to a limit. It has no clock and does no IO.
///
/// A transfer that may not is paused and waits in a queue, and nobody overtakes it. Each turn is good for one piece: a transfer that has more
/// goes to the end of the queue. So transfers share the limit evenly, and none starves.
struct SpeedTurns {
    private var allowance: SpeedAllowance
    private var paused = WaitingQueue<UInt64>()
    /// The transfer that was told to go on and has not asked since. Newer versions of libcurl deliver some time after they were told.
    private var turn: UInt64?

    init(bytesPerSecond: Int, at now: ContinuousClock.Instant) {
        allowance = SpeedAllowance(bytesPerSecond: bytesPerSecond, at: now)
    }

    /// Whether the transfer may take the bytes. If not, it is paused until `next` names it, and then offered them again.
    mutating func admits(_ id: UInt64, _ count: Int, at now: ContinuousClock.Instant) -> Bool {
        let isItsTurn = turn == id
        if isItsTurn { turn = nil }
        if isItsTurn || turn == nil && paused.isEmpty, allowance.take(count, at: now) == .goOn { return true }
        paused.append(id, id: id)
        return false
    }

    /// The transfer that is to go on now, the longest paused one. There is no other until it has asked or is forgotten.
    mutating func next(at now: ContinuousClock.Instant) -> UInt64? {
        guard turn == nil, allowance.opens <= now else { return nil }
        turn = paused.popFirst()
        return turn
    }

    /// When `next` may name a transfer; nil while none is paused.
    var deadline: ContinuousClock.Instant? { turn == nil && !paused.isEmpty ? allowance.opens : nil }

    /// The transfer has ended, or goes on to another host.
    mutating func forget(_ id: UInt64) {
        if turn == id { turn = nil }
        _ = paused.remove(id)
    }
}

/// The speed limit of all transfers of an engine, for its thread alone.
final class SpeedLimit {
    private var turns: SpeedTurns

    init(bytesPerSecond: Int) { turns = SpeedTurns(bytesPerSecond: bytesPerSecond, at: .now) }

    var deadline: ContinuousClock.Instant? { turns.deadline }

    func admits(_ id: UInt64, _ count: Int) -> Bool { turns.admits(id, count, at: .now) }

    func next() -> UInt64? { turns.next(at: .now) }

    func forget(_ id: UInt64) { turns.forget(id) }
}
