/// Proof of a flight, a job's lease and its URL's lock in one: a counter from Redis and a random half of the claimer's, compared as a
/// whole. The counter alone would repeat after a failover to a replica that lagged behind.
package struct FlightToken: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    static let count = 16
}
