/// What a URL is known by in Redis: the first 16 bytes of the SHA-256 of its canonical form.
package struct URLID: Sendable, Hashable {
    package let bytes: [UInt8]

    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }
}
