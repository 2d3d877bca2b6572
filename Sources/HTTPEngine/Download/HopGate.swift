/// Whoever has a say in which hosts requests go to, and when.
package protocol HopGate: Sendable {
    /// Waits until a transfer may go on at the host that a redirect has led it to, with no connection of its own meanwhile. False ends it, as
    /// cancelled.
    func admits(_ host: String) async -> Bool
}

/// A downloader that asks before it follows a redirect to another host.
package protocol GatedDownloader: Downloader {
    func download(_ request: DownloadRequest, through gate: any HopGate) async throws(FetchError) -> Download
}
