import GannetBase

/// Holds threads until it is opened, and tells how many it holds.
final class Gate: Sendable {
    private let state = Condition((isOpen: false, held: 0))

    func pass() {
        state.withLock { $0.held += 1 }
        state.wakeAll()
        state.wait { $0.isOpen ? () : nil }
    }

    func open() {
        state.withLock { $0.isOpen = true }
        state.wakeAll()
    }

    /// Returns when so many threads were held.
    func holds(_ count: Int) async throws {
        await OwnedThread.run(name: "test") { [state] in state.wait { $0.held >= count ? () : nil } }
    }
}
