#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Draws, of all who use a fresh answer, one now and then to fetch it again, so that a busy one does not get stale for all of them at once.
///
/// The nearer the end and the longer a fetch takes, the likelier: the lead is drawn from an exponential distribution whose mean is what a fetch
/// takes, which is the best there is (Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache Stampede Prevention, 2015).
enum EarlyRefresh {
    /// - Parameter random: From 0 up to but not 1.
    static func isDue(_ stored: StoredAnswer, factor: Double, now: Moment, random: Double) -> Bool {
        let left = stored.freshness.freshUntil - now
        // However slow the origin is, it is not asked again in the first half.
        guard factor > 0, (0..<1).contains(random), left <= (stored.freshness.freshUntil - stored.receivedAt) / 2 else { return false }
        let lead = Double(stored.fetchDuration.saturatedMilliseconds) * factor * -log(1 - random)
        return Double(left.saturatedMilliseconds) <= lead
    }
}
