internal import ClusterState
internal import HTTPEngine

/// The error classes of jobs that were given up.
package enum FailureClass {
    /// All classes except those of statuses, which are `http-` and the number.
    package static let names = FetchError.Kind.classNames + [ExchangeRequest.poisonClass, ExchangeRequest.unreadableClass]

    package static func isKnown(_ name: String) -> Bool {
        names.contains(name) || FetchError.Kind(className: name) != nil
    }
}
