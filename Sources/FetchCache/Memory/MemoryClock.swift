internal import Synchronization

/// Tells a cache the time, in nanoseconds since it was made, and only if an entry has ever had a deadline: reading a clock takes as long
/// as a hit.
struct MemoryClock: ~Copyable, Sendable {
    private let nanoseconds: @Sendable () -> Int64
    private let hasDeadlines = Atomic(false)

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        nanoseconds = { start.duration(to: clock.now).saturatedNanoseconds }
    }

    /// Before all deadlines as long as there are none.
    var now: Int64 { hasDeadlines.load(ordering: .relaxed) ? nanoseconds() : .min }

    /// The moment after so much time, or the last one there is.
    func deadline(after time: Duration) -> Int64 {
        hasDeadlines.store(true, ordering: .relaxed)
        let (sum, overflow) = nanoseconds().addingReportingOverflow(time.saturatedNanoseconds)
        return overflow ? .max : sum
    }
}

extension Duration {
    /// The nearest there is in 64 bits: 292 years.
    fileprivate var saturatedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, tooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, stillTooLarge) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooLarge || stillTooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}
