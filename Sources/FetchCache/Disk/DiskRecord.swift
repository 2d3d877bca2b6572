package import HTTPEngine

/// What is kept under a key: a body, and something small that says what it is.
package struct DiskRecord: Sendable, Hashable {
    package var metadata: [UInt8]
    package var body: [UInt8]
    package var bodyDigest: SHA256Digest

    package init(metadata: [UInt8], body: [UInt8], bodyDigest: SHA256Digest) {
        self.metadata = metadata
        self.body = body
        self.bodyDigest = bodyDigest
    }
}
