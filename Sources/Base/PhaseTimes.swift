/// The parts of a fetch's time, in milliseconds. Together they are the time from its start to its end.
package struct PhaseTimes: Sendable, Hashable {
    /// The requests that a redirect answered, with all that they took.
    package var redirects: UInt32 = 0
    /// The look-up of the host's name.
    package var lookUp: UInt32 = 0
    /// The wait for a connection; almost nothing where an open one was free.
    package var connect: UInt32 = 0
    /// The handshake of TLS.
    package var handshake: UInt32 = 0
    /// From the request to the first byte of the answer.
    package var firstByte: UInt32 = 0
    /// From the first byte to the last.
    package var transfer: UInt32 = 0

    package init() {}

    /// The sum of these and of earlier ones.
    package func adding(_ earlier: PhaseTimes?) -> PhaseTimes {
        guard let earlier else { return self }
        var sum = self
        for phase in Self.all {
            let (value, isOver) = sum[keyPath: phase.path].addingReportingOverflow(earlier[keyPath: phase.path])
            sum[keyPath: phase.path] = isOver ? .max : value
        }
        return sum
    }

    /// Each phase in the order of time, with the name that JSON has for it and the one for people.
    package static let all: [(key: String, name: String, path: any WritableKeyPath<PhaseTimes, UInt32> & Sendable)] = [
        ("redirects", "redirects", \.redirects), ("lookUp", "name look-up", \.lookUp), ("connect", "connect", \.connect),
        ("tls", "TLS", \.handshake), ("firstByte", "first byte", \.firstByte), ("transfer", "transfer", \.transfer),
    ]

    /// Fetches that succeeded in less time have no times: nobody asks where the time went.
    package static let slow = Duration.milliseconds(250)
}
