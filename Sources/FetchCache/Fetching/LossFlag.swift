internal import Synchronization

/// Whether the right to fetch was lost; set from wherever that is noticed.
final class LossFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}
