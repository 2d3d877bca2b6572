import COpenSSL
import Results

/// A digest by OpenSSL.
final class OpenSSLHasher: ArchiveHasher {
    private let context: OpaquePointer

    init(_ algorithm: DigestAlgorithm = .sha256) {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, algorithm == .sha1 ? EVP_sha1() : EVP_sha256(), nil) == 1 else {
            fatalError("OpenSSL has no digest.")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) { EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

    func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        EVP_DigestFinal_ex(context, &digest, &count)
        return Array(digest[..<Int(count)])
    }
}
