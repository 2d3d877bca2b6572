/// A body that has arrived completely.
public enum DownloadedBody: Sendable, Hashable {
    case bytes([UInt8])
    /// The path of a temporary file, and the digest of its bytes. Whoever receives this renames or deletes the file.
    case file(String, SHA256Digest)

    /// The digest of the body. That of bytes in memory is computed here, by whoever wants it, and not on the engine's thread.
    public var digest: SHA256Digest {
        switch self {
        case .bytes(let bytes): SHA256Digest(of: bytes)
        case .file(_, let digest): digest
        }
    }
}
