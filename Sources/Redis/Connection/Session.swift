/// The use of an established connection: commands, or subscriptions. Used on the connection's thread.
protocol Session: AnyObject {
    /// The time of the next call of ``expire(now:whileDisconnectedBecause:)``.
    var nextDeadline: ContinuousClock.Instant? { get }

    /// Whether every command that was sent has been answered.
    var isIdle: Bool { get }

    /// Takes new requests from the mailbox. Returns false once the connection is closed.
    func takeMessages() -> Bool

    /// Whether the thread may sleep, because there are no new requests.
    func maySleep() -> Bool
    func woke()

    /// A new connection is established.
    func began(now: ContinuousClock.Instant)

    /// Appends commands to `output`, up to a bound.
    func collect(into output: inout OutputQueue)

    func receive(_ reply: RedisReply, output: inout OutputQueue) -> SessionVerdict

    /// Fails requests whose deadline has passed. An error means that the connection has stalled.
    func expire(now: ContinuousClock.Instant, whileDisconnectedBecause reason: RedisError?) -> RedisError?

    /// The connection was lost after `written` bytes of its output.
    func lost(_ error: RedisError, written: Int)

    /// The connection is over, after `written` bytes of its output. All requests end.
    func stop(_ error: RedisError, written: Int)
}

/// The effect of a reply on its connection.
enum SessionVerdict {
    case goOn
    /// The server has become a replica, so the primary has to be found.
    case readOnly
    /// The reply belongs to no command.
    case unasked
}
