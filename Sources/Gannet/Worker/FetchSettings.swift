internal import HTTPEngine

/// How URLs are fetched, in the words of a command line.
package struct FetchSettings: Sendable {
    /// For the whole of one transfer, redirects included.
    package var timeout = Duration.seconds(60)
    package var connectTimeout = Duration.seconds(10)

    /// The largest body, in bytes.
    package var maximumBody = 100_000_000

    /// Private networks that may be fetched from: `10.0.0.0/8` and the like, or `all`.
    package var allowedNetworks: [String] = []

    /// An HTTP or SOCKS proxy to go through.
    package var proxy: String?

    /// PEM certificates to trust for `https://` instead of the system's.
    package var authorityFile: String?
    package var userAgent: String?

    package init() {}

    /// Why settings cannot be used, as a sentence.
    package struct Invalid: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Throws when one of the settings cannot be used.
    package func validate() throws(Invalid) {
        let options = try downloaderOptions(concurrency: 1)
        do throws(DownloaderOptions.Invalid) {
            try options.validate()
        } catch {
            throw Invalid(description: error.description)
        }
    }

    func makeDownloader(concurrency: Int) throws(WorkerFailure) -> CurlDownloader {
        do {
            return try CurlDownloader(downloaderOptions(concurrency: concurrency))
        } catch {
            throw .settings("\(error)")
        }
    }
}

extension FetchSettings {
    private func downloaderOptions(concurrency: Int) throws(Invalid) -> DownloaderOptions {
        var options = DownloaderOptions()
        options.timeout = timeout
        options.connectTimeout = connectTimeout
        // Who allows more for the whole has servers in mind that take their time.
        options.answerTimeout = max(.milliseconds(1), timeout / 2)
        options.maximumBody = Int64(maximumBody)
        options.caFile = authorityFile
        if let userAgent { options.userAgent = userAgent }
        options.maximumInFlight = concurrency
        do throws(ProxyAddress.Invalid) {
            options.proxy = try proxy.map { text throws(ProxyAddress.Invalid) in try ProxyAddress(text) }
        } catch {
            throw Invalid(description: error.description)
        }
        do throws(NetworkPrefix.ParseError) {
            options.addressGuard = try AddressGuard(parsing: allowedNetworks)
        } catch {
            throw Invalid(description: error.description)
        }
        return options
    }
}
