/// For how long a failure stands for its URL, by what failed; zero is not at all.
///
/// A time says for how long the same attempt would be a waste, not how bad the failure is.
public struct FailureTimes: Sendable, Hashable {
    /// 404 and 410, where the answer gives no lifetime.
    public var missing: Duration = .seconds(300)
    /// Other 4xx, where the answer gives none.
    public var denied: Duration = .seconds(60)
    /// The host's name does not exist.
    public var noSuchHost: Duration = .seconds(60)
    /// A certificate that is not trusted, a handshake that fails.
    public var tls: Duration = .seconds(60)
    /// An address that may not be connected to.
    public var refusedAddress: Duration = .seconds(60)
    /// An answer that cannot be used: too large, badly encoded, against the rules, redirected in circles.
    public var unusable: Duration = .seconds(60)
    /// No connection, no address, neither in time.
    public var unreachable: Duration = .seconds(2)
    /// 5xx where the answer gives no lifetime, a lost connection, an answer that does not come or does not end.
    public var failing: Duration = .seconds(1)
    /// A host that asks for patience and does not say for how long.
    public var throttled: Duration = .seconds(1)
    /// No failure stands for longer, whatever its answer says.
    public var maximum: Duration = .seconds(3600)

    public init() {}
}
