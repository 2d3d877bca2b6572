/// Decides when the private Redis has been without a user for long enough. Time and what was seen come in; nothing else does.
struct IdleWatch: Sendable {
    let idleTime: Duration
    private var since: ContinuousClock.Instant
    private var mark: FileLock.Mark?

    /// The time counts from the server's start, for the user that started it and left at once.
    init(idleTime: Duration, now: ContinuousClock.Instant, mark: FileLock.Mark?) {
        self.idleTime = idleTime
        self.since = now
        self.mark = mark
    }

    /// `mark` is when the users' lock was last taken or given up: a user who came and went between two looks has moved it.
    mutating func look(now: ContinuousClock.Instant, inUse: Bool, mark: FileLock.Mark?) -> Bool {
        if inUse || mark != self.mark {
            since = now
            self.mark = mark
            return false
        }
        return now - since >= idleTime
    }

    /// How long to sleep before the next look: often enough to be on time, seldom enough to cost nothing.
    var interval: Duration {
        min(max(idleTime / 5, .milliseconds(20)), .seconds(5))
    }
}
