internal import ClusterState
internal import HTTPEngine

/// The classes of reasons that jobs are given up for.
package enum FailureClass {
    /// All but those of statuses, which are `http-` and the number: a fetch's own, and those of jobs that were given up without one.
    package static let names = FetchError.Kind.classNames + [ClaimRequest.poisonClass, FetchQueue.unreadableClass]

    package static func isKnown(_ name: String) -> Bool {
        names.contains(name) || FetchError.Kind(className: name) != nil
    }
}
