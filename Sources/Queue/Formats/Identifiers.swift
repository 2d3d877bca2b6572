internal import GannetBase

/// The name of a URL in Redis: the first 16 bytes of the SHA-256 of its canonical form.
package struct URLID: Sendable, Hashable {
    // Two numbers are compared, hashed and copied faster than an array.
    private let high: UInt64
    private let low: UInt64

    package static let count = 16

    package var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

    func append(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes.append(contentsOf: $0) }
    }

    /// The id as people see it: so many of its digits tell a hundred million URLs apart, but for a few.
    package var short: String { String(bytes.hexadecimal.prefix(Self.shortDigits)) }
    package static let shortDigits = 12

    package init?(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// For a place of a request without a job.
    package static func random() -> URLID { URLID(high: .random(in: .min ... .max), low: .random(in: .min ... .max)) }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        high = UInt64(bigEndianBytes: bytes.prefix(8))
        low = UInt64(bigEndianBytes: bytes.dropFirst(8))
    }
}

extension UInt64 {
    fileprivate init(bigEndianBytes bytes: ArraySlice<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// One life of a process that holds jobs or locks: eight random bytes. A process that was restarted, or whose lease has ended, is another
/// incarnation.
package struct Incarnation: Sendable, Hashable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package static func random() -> Incarnation { Incarnation(.random(in: .min ... .max)) }

    var bytes: [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

/// Proof that a URL's lock is its holder's: a counter from Redis and the holder's incarnation, compared as a whole. The counter alone would
/// repeat after a failover to a replica that lagged behind.
package struct LockToken: Sendable, Hashable {
    package let counter: UInt64
    package let incarnation: Incarnation

    static let count = 16
}

extension LockToken {
    /// The sender of a place that has no lock.
    package static func ofPlace(_ incarnation: Incarnation) -> LockToken { LockToken(counter: 0, incarnation: incarnation) }

    init?(_ bytes: [UInt8]) { self.init(bytes[...]) }

    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        self.init(
            counter: UInt64(bigEndianBytes: bytes.prefix(8)), incarnation: Incarnation(UInt64(bigEndianBytes: bytes.dropFirst(8))))
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    func append(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: (counter.bigEndian, incarnation.number.bigEndian)) { bytes.append(contentsOf: $0) }
    }
}
