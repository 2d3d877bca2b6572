/// What a connection is used for once it stands. Lives on the connection's thread.
protocol Session: AnyObject {
    /// When ``expire(now:)`` has something to do at the latest.
    var nextDeadline: ContinuousClock.Instant? { get }

    /// Whether every command that was sent has been answered.
    var isIdle: Bool { get }

    /// Takes in what callers have asked for since the last call. Returns false once they have closed the connection.
    func takeMessages() -> Bool

    /// Whether the thread may sleep: no caller has asked for anything since.
    func maySleep() -> Bool
    func woke()

    /// A fresh connection stands.
    func began(now: ContinuousClock.Instant)

    /// Moves as much as is sensible to `output`.
    func collect(into output: inout OutputQueue)

    func receive(_ reply: RedisReply, output: inout OutputQueue) -> SessionVerdict

    /// Ends what has waited for too long; an error means that the connection has stalled.
    func expire(now: ContinuousClock.Instant, whileDisconnectedBecause reason: RedisError?) -> RedisError?

    /// The connection is gone after `written` bytes of its output.
    func lost(_ error: RedisError, written: Int)

    /// The end, after `written` bytes of the output: everything that waits is told.
    func stop(_ error: RedisError, written: Int)
}

/// What a reply means for the connection it came on.
enum SessionVerdict {
    case goOn
    /// The server takes no writes: find the primary.
    case readOnly
    /// The reply belongs to nothing that was asked.
    case unasked
}
