/// A body that has arrived completely, and how.
package struct Download: Sendable, Hashable {
    /// The URL that answered, after redirects, without user and password.
    package var finalURL: String
    /// 200 to 299.
    package var status: Int
    /// The `Content-Type` as sent, cut at 256 characters.
    package var contentType: String?
    /// The length of the body, which is the file's.
    package var byteCount: Int64
    /// The digest of the file's bytes.
    package var digest: SHA256Digest
    /// The path of the temporary file; whoever receives this renames or deletes it.
    package var file: String
    /// From the start of the transfer to its end.
    package var duration: Duration
    /// How many redirects were followed.
    package var redirects: Int

    package init(
        finalURL: String, status: Int, contentType: String?, byteCount: Int64, digest: SHA256Digest, file: String, duration: Duration,
        redirects: Int
    ) {
        self.finalURL = finalURL
        self.status = status
        self.contentType = contentType
        self.byteCount = byteCount
        self.digest = digest
        self.file = file
        self.duration = duration
        self.redirects = redirects
    }
}
