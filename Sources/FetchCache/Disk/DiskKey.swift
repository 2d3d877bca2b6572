/// What a record of a ``DiskTier`` is found by: 16 to 64 bytes, such as a hash of a URL. The first byte should be as good as random: it
/// spreads records over folders.
package struct DiskKey: Sendable, Hashable {
    package let bytes: [UInt8]

    package static let sizes = 16...64

    /// Nil for any other number of bytes.
    package init?(_ bytes: [UInt8]) {
        guard Self.sizes.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}
