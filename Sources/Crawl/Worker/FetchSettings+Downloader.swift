internal import GannetHTTP

extension FetchSettings {
    /// Starts an engine with these settings, and with this limit of transfers at a time.
    func makeDownloader(concurrency: Int) throws(InvalidOptions) -> CurlDownloader {
        var settings = self
        settings.maximumInFlight = concurrency
        return try CurlDownloader(settings)
    }
}
