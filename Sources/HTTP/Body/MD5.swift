import COpenSSL
internal import GannetBase

/// MD5, which lists of data sets name their files by. It shows damage and no forgery.
package enum MD5 {
    private static let piece = 256 << 10

    /// The 16 bytes of a body's digest. Nil where libcrypto refuses MD5, or the file cannot be read.
    package static func digest(of body: DownloadedBody) -> [UInt8]? {
        switch body {
        case .bytes(let bytes): digest { EVP_DigestUpdate($0, bytes, bytes.count) == 1 }
        case .file(let path, _): digest(ofFile: path)
        }
    }

    package static func digest(ofFile path: String) -> [UInt8]? { digest { update($0, path) } }

    private static func digest(_ update: (OpaquePointer) -> Bool) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestInit_ex(context, EVP_md5(), nil) == 1, update(context) else { return nil }
        var digest = [UInt8](repeating: 0, count: 16)
        return EVP_DigestFinal_ex(context, &digest, nil) == 1 ? digest : nil
    }

    private static func update(_ context: OpaquePointer, _ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: piece, alignment: 16) { buffer in
            var offset = 0
            while true {
                guard let count = Descriptor.read(into: buffer, from: descriptor, at: offset) else { return false }
                if count == 0 { return true }
                guard EVP_DigestUpdate(context, buffer.baseAddress, count) == 1 else { return false }
                offset += count
            }
        }
    }
}
