internal import Synchronization

/// Something that has happened, such as the loss of a lease. Any thread may set it.
final class Flag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}
