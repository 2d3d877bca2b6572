internal import COpenSSL

/// A Lua script and the digest Redis knows it by.
///
/// Sent as `EVALSHA`; a server that does not have it (a restart, a failover, `SCRIPT FLUSH`) gets the source instead, unseen
/// by the caller.
package struct RedisScript: Sendable {
    package let source: String

    /// SHA-1 of the source in lower-case hexadecimal, as `EVALSHA` takes it.
    package let digest: String

    package init(_ source: String) {
        self.source = source
        self.digest = Self.digest(of: source)
    }

    private static func digest(of source: String) -> String {
        var source = source
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let succeeded = source.withUTF8 { EVP_Digest($0.baseAddress, $0.count, &bytes, &count, EVP_sha1(), nil) }
        precondition(succeeded == 1, "libcrypto refused to compute a SHA-1 digest, which EVALSHA cannot do without.")
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes[..<Int(count)].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
