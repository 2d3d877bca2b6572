internal import Synchronization

/// Something that has happened or holds, such as the loss of a lease. Any thread may set it.
package final class SharedFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .acquiring) }

    package func set(_ value: Bool = true) { flag.store(value, ordering: .releasing) }

    /// Clears the flag, and says whether it was set.
    package func take() -> Bool { flag.exchange(false, ordering: .acquiringAndReleasing) }
}
