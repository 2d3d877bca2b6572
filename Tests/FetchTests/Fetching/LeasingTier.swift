import GannetHTTP
import GannetTestKit

@testable import GannetFetch

/// A shared tier that holds the last committed answer, gives every other caller a lease, and notes how leases end.
struct LeasingTier: SharedTier, SharedLease {
    let ends = Monitor<[String]>([])
    /// A commit ends only while this holds.
    let mayCommit = Monitor(true)
    private let answer = Monitor<CachedAnswer?>(nil)

    var stale: CachedAnswer? { nil }

    func acquire(_ ask: SharedAsk) async -> SharedAnswer { answer.update { $0 }.map { .found($0, hasComeSince: false) } ?? .leased(self) }
    func kept(_ ask: SharedAsk) async -> CachedAnswer? { answer.update { $0 } }
    func remove(_ key: CacheKey, url: String) async { answer.update { $0 = nil } }
    func isWantedElsewhere() async -> Bool { false }

    func whenLost(_ action: @escaping @Sendable () -> Void) {}

    func commit(_ answer: CachedAnswer, kept: SharedRetention, revalidated: Bool) async -> SharedCommit {
        try? await mayCommit.wait { $0 ? () : nil }
        self.answer.update { $0 = answer }
        ends.update { $0.append("committed") }
        return .stored
    }

    func shareNothing(status: Int) async { ends.update { $0.append("nothing to share") } }
    func fail(_ error: FetchError, for time: Duration) async { ends.update { $0.append("failed: \(error.detail)") } }
    func release() async { ends.update { $0.append("released") } }
}
