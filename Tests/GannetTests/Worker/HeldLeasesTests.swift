import Synchronization
import Testing

@testable import ClusterState
@testable import Gannet

@Suite struct HeldLeasesTests {
    /// Counts the work that was ended.
    private final class Ended: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func note(_ name: String) -> @Sendable () -> Void {
            { self.counts.withLock { $0[name, default: 0] += 1 } }
        }

        var names: Set<String> { counts.withLock { Set($0.keys) } }
    }

    private let held = HeldLeases()
    private let ended = Ended()

    private func token(_ number: UInt8) -> LockToken { LockToken([number]) }

    @Test func `a lost lease ends its own fetch alone`() {
        held.add(token(1), cancel: ended.note("1"))
        held.add(token(2), cancel: ended.note("2"))
        held.lose([token(2), token(3)])
        #expect(ended.names == ["2"])
        #expect(held.isLost(token(2)) && !held.isLost(token(1)) && !held.isLost(token(3)))
        held.remove(token(2))
        #expect(!held.isLost(token(2)))
        #expect(held.tokens == [token(1)])
    }

    @Test func `a fetch that begins after the word for all is ended too`() {
        held.add(token(1), cancel: ended.note("1"))
        held.cancelAll()
        held.add(token(2), cancel: ended.note("2"))
        held.conclude(token(2), abandon: ended.note("conclusion"))
        #expect(ended.names == ["1", "2"])
    }

    @Test func `when all is abandoned nothing is waited for, whenever it began`() {
        held.add(token(1), cancel: ended.note("1"))
        held.conclude(token(1), abandon: ended.note("conclusion 1"))
        held.add(token(2), cancel: ended.note("2"))
        held.abandonAll()
        held.conclude(token(2), abandon: ended.note("conclusion 2"))
        #expect(ended.names == ["1", "conclusion 1", "2", "conclusion 2"])
    }
}
