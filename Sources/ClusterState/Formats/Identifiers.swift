/// The name of a URL in Redis: the first 16 bytes of the SHA-256 of its canonical form.
package struct URLID: Sendable, Hashable {
    package let bytes: [UInt8]

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}

/// Proof of a job's lease and of its URL's lock in one. The token is a counter from Redis and random bytes of the claimer, compared as a
/// whole. The counter alone would repeat after a failover to a replica that lagged behind.
package struct LockToken: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    static let count = 16
}

/// Eight random bytes that tell the tokens of one caller, or of one claim, from all others.
package struct Nonce: Sendable, Hashable {
    let bytes: [UInt8]

    package init(_ number: UInt64) { bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
