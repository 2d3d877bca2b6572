internal import GannetBase

/// Counts of what a server has done since it began.
package final class HTTPServiceCounts: Sendable {
    package struct Values: Sendable, Equatable {
        /// Connections that are open.
        package internal(set) var connections = 0
        /// Connections that were accepted.
        package internal(set) var accepted = 0
        /// Connections that were refused because their address had its share of them, or because all were at work.
        package internal(set) var refused = 0
        /// Connections that were closed because they sent no request for too long, or made room for others.
        package internal(set) var closedIdle = 0
        /// Requests that have begun and are not over: they are read, wait for their answer, or are being sent it.
        package internal(set) var requests = 0
        /// Requests whose client left before an answer began.
        package internal(set) var departed = 0
        /// Bytes of bodies that connections took. Their clients need not have them all.
        package internal(set) var bodyBytes = 0
    }

    private let counted = Mutex(Values())

    package init() {}

    package var values: Values { counted.withLock { $0 } }

    func note(_ change: (inout Values) -> Void) { counted.withLock { change(&$0) } }
}
