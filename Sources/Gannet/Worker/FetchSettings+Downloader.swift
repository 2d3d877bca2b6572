internal import HTTPEngine

extension FetchSettings {
    /// Starts an engine with these settings and so many transfers at a time.
    func makeDownloader(concurrency: Int) throws(WorkerFailure) -> CurlDownloader {
        var settings = self
        settings.maximumInFlight = concurrency
        do throws(InvalidOptions) {
            return try CurlDownloader(settings)
        } catch {
            throw .settings(error.description)
        }
    }
}
