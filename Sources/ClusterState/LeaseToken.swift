/// Proof of a lease: a counter from Redis and a random half of the claimer's, compared as a whole.
package struct LeaseToken: Sendable, Hashable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}
