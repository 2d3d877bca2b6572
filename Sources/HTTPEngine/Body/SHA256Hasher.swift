import COpenSSL

/// An incremental SHA-256 that can be used again after each result: looking the algorithm up anew costs more than hashing a small body.
package final class SHA256Hasher {
    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            fatalError("libcrypto has no memory for, or no, SHA-256.")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else { fatalError("SHA-256 refused an update.") }
    }

    /// The digest of everything since the last result.
    package func finish() -> SHA256Digest {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { buffer in
            guard EVP_DigestFinal_ex(context, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1 else {
                fatalError("SHA-256 refused to finish.")
            }
            reset()
            return SHA256Digest(raw: UnsafeRawBufferPointer(buffer))
        }
    }

    /// Forgets what it has been fed.
    package func reset() {
        guard EVP_DigestInit_ex(context, nil, nil) == 1 else { fatalError("SHA-256 refused to start again.") }
    }
}
