/// Fetches one URL into one file.
public protocol Downloader: Sendable {
    /// Requests the URL and stores the body of a successful answer (status 200 to 299) in a new file, which is then the caller's.
    ///
    /// Whatever is thrown, and when the task is cancelled, no file is left behind and the connection of an unfinished transfer is closed.
    func download(_ request: DownloadRequest) async throws(FetchError) -> Download
}
