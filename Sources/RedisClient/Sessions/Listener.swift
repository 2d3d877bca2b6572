/// One caller's ear on some channels.
struct Listener: Sendable {
    let id: UInt64
    let channels: Set<String>
    let events: AsyncStream<RedisSubscription.Event>.Continuation

    /// Fired when the server has confirmed all channels, or refused one.
    let confirmed: OneShot<Result<Void, RedisError>>
    let deadline: ContinuousClock.Instant
}

/// What callers ask of a subscriber's thread.
enum SubscriptionMessage: Sendable {
    case listen(Listener)
    case leave(UInt64)
}
