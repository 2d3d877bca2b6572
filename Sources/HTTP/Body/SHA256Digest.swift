import COpenSSL
internal import GannetBase

/// 32 bytes of SHA-256.
package struct SHA256Digest: Sendable, Hashable {
    // Two numbers instead of an array: a digest costs no allocation.
    private let first: UInt128
    private let last: UInt128

    /// The digest whose 32 bytes are given; nil for any other count.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self = Array(bytes).withUnsafeBytes { Self(raw: $0) }
    }

    /// The digest of the bytes.
    package init(of bytes: some Collection<UInt8>) {
        self = Array(bytes).withUnsafeBytes { SHA256Digest(of: $0) }
    }

    /// The digest of the bytes.
    package init(of bytes: UnsafeRawBufferPointer) {
        let hasher = SHA256Hasher.takeSpare()
        hasher.update(bytes)
        self = hasher.finish()
        SHA256Hasher.putSpare(hasher)
    }

    /// The seal (HMAC) of the bytes, which only a holder of the key can make.
    package init(sealing bytes: [UInt8], key: [UInt8]) {
        self = withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { buffer in
            let place = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, place, nil) != nil else {
                fatalError("libcrypto has no memory for a seal.")
            }
            return SHA256Digest(raw: UnsafeRawBufferPointer(buffer))
        }
    }

    init(raw: UnsafeRawBufferPointer) {
        first = raw.loadUnaligned(fromByteOffset: 0, as: UInt128.self)
        last = raw.loadUnaligned(fromByteOffset: 16, as: UInt128.self)
    }

    /// The 32 bytes in order.
    package var bytes: [UInt8] { withUnsafeBytes(of: (first, last)) { Array($0) } }
}

extension SHA256Digest: CustomStringConvertible {
    /// 64 hexadecimal digits in lower case.
    package var description: String { bytes.hexadecimal }
}

/// Computes the SHA-256 of bytes that come in parts. One hasher is used for body after body, because a new one looks the algorithm up,
/// which costs more than to hash a small body.
package final class SHA256Hasher {
    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            fatalError("libcrypto has no memory for SHA-256, or lacks it.")
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

    /// Forgets all bytes since the last result.
    package func reset() {
        guard EVP_DigestInit_ex(context, nil, nil) == 1 else { fatalError("SHA-256 refused to start again.") }
    }
}

/// Hashers between two uses. There are never more of them than threads that hashed at the same time.
extension SHA256Hasher {
    // A hasher in this list has no user. A caller that takes it out has it alone.
    private struct Spare: @unchecked Sendable {
        let hasher: SHA256Hasher
    }

    private static let spare = Mutex<[Spare]>([])

    fileprivate static func takeSpare() -> SHA256Hasher { spare.withLock { $0.popLast() }?.hasher ?? SHA256Hasher() }

    fileprivate static func putSpare(_ hasher: SHA256Hasher) { spare.withLock { $0.append(Spare(hasher: hasher)) } }
}

/// OpenSSL as a process has it once.
package enum CryptoLibrary {
    /// Keeps the library whole until the process is gone. By itself it frees its parts when `exit` is called, under the hands of threads that
    /// are still at work, and the process crashes in place of its exit status. It has to be called before any other use of OpenSSL.
    package static func stayToTheEnd() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
