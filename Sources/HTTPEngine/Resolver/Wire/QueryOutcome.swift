/// What came of one query.
enum QueryOutcome: Hashable {
    /// At least one address, and how many seconds they may be remembered.
    case addresses([IPAddress], ttl: UInt32)
    /// The name exists, and has no record of the type; for how many seconds that may be remembered, if the answer says so.
    case noData(ttl: UInt32?)
    case noSuchName(ttl: UInt32?)
    case trouble(ResolveFailure.ServerTrouble)
    /// The answer does not fit in a datagram.
    case truncated
    /// No answer in the time the query had.
    case silence
    /// The query could not be sent, or the machine asked said that nobody listens there.
    case unreachable
    case outOfMemory
}
