/// How many requests a worker has in flight at most.
///
/// A given number stays. Otherwise a worker begins with few places, and doubles them as long as all are in use and the process keeps up. Once its
/// threads have lagged behind, places grow by an eighth, and shrink by an eighth while they lag. More requests than the processor can
/// serve wait in the worker and not at their origins: each takes longer then, and the largest hosts with them.
struct Places {
    typealias Instant = ContinuousClock.Instant

    private(set) var count: Int
    private let most: Int
    private let adapts: Bool
    private var hasLagged = false
    private var nextLook: Instant?

    static let atFirst = 64
    /// Requests take some time to show what they cost.
    static let lookEvery = Duration.milliseconds(200)
    /// With less lag there are more places, and with more there are fewer.
    static let littleLag = Duration.milliseconds(5)
    static let muchLag = Duration.milliseconds(15)

    /// - Parameter most: The given number, or the most that there may ever be.
    init(most: Int, adapts: Bool) {
        self.most = most
        self.adapts = adapts
        count = adapts ? min(most, Self.atFirst) : most
    }

    /// Finds more or fewer places right, now and then.
    /// - Parameters:
    ///   - used: The requests in flight.
    ///   - lag: How long what has happened waits for the process.
    mutating func look(used: Int, lag: Duration, at now: Instant) {
        guard adapts, nextLook.map({ $0 <= now }) ?? true else { return }
        nextLook = now + Self.lookEvery
        if lag > Self.muchLag {
            hasLagged = true
            count = max(min(most, Self.atFirst), count - count / 8)
        } else if lag < Self.littleLag, used >= count {
            count = min(most, count + (hasLagged ? max(1, count / 8) : count))
        }
    }

    /// When to look again though nothing may have happened by then: all places are in use, and there may be more.
    func lookDue(used: Int) -> Instant? { adapts && used >= count && count < most ? nextLook : nil }
}
