internal import FetchCache
internal import HTTPEngine

extension FetcherOptions {
    /// Throws when one of the options cannot be used.
    public func validate() throws(Invalid) {
        guard memoryLimit >= 0, memoryCount >= 0 else { throw Invalid("The memory tier's limits must not be negative.") }
        guard (1...65_536).contains(maximumInFlight) else { throw Invalid("From 1 to 65,536 transfers can be in flight.") }
        do throws(FreshnessPolicy.Invalid) { try freshness.validate() } catch { throw Invalid(error.description) }
        _ = try downloaderOptions()
        if let diskFolder { try Self.validate(folder: diskFolder) }
        do throws(FolderOptions.Invalid) { try diskOptions.validate() } catch { throw Invalid(error.description) }
    }

    private static func validate(folder: String) throws(Invalid) {
        guard !folder.isEmpty else { throw Invalid("The folder for the disk tier has no name.") }
        // To the system the name would end there, and be another folder's.
        guard !folder.utf8.contains(0) else { throw Invalid("The name of the folder for the disk tier has a zero byte in it.") }
        guard folder != "~", !folder.hasPrefix("~/") else {
            throw Invalid("The folder for the disk tier is \(folder.escapedForDisplay), but ~ is not expanded: write the whole path.")
        }
    }

    func downloaderOptions() throws(Invalid) -> DownloaderOptions {
        var options = DownloaderOptions()
        options.timeout = timeout
        options.connectTimeout = connectTimeout
        // Who allows more for the whole has servers in mind that take their time.
        options.answerTimeout = max(.milliseconds(1), timeout / 2)
        options.maximumBody = maximumBody
        options.maximumRedirects = maximumRedirects
        options.maximumInFlight = maximumInFlight
        options.caFile = caFile
        if let userAgent { options.userAgent = userAgent }
        do throws(ProxyAddress.Invalid) {
            options.proxy = try proxy.map { text throws(ProxyAddress.Invalid) in try ProxyAddress(text) }
        } catch {
            throw Invalid(error.description)
        }
        do throws(NetworkPrefix.ParseError) {
            options.addressGuard = try AddressGuard(parsing: allowedNetworks)
        } catch {
            throw Invalid(error.description)
        }
        do throws(DownloaderOptions.Invalid) { try options.validate() } catch { throw Invalid(error.description) }
        return options
    }

    private var diskOptions: DiskTierOptions {
        var options = DiskTierOptions()
        options.folder.limit = diskLimit
        return options
    }

    func parts(_ downloader: any Downloader) throws(Invalid) -> CachingFetch.Parts {
        var parts = CachingFetch.Parts(
            downloader: downloader, memory: MemoryCache(MemoryCacheOptions(costLimit: memoryLimit, countLimit: memoryCount)))
        do throws(FolderOptions.Invalid) {
            parts.disk = try diskFolder.map { folder throws(FolderOptions.Invalid) in AnswerDisk(try DiskTier(folder, diskOptions)) }
        } catch {
            throw Invalid(error.description)
        }
        parts.shared = shared?.tier
        parts.policy = freshness
        parts.maximumInFlight = maximumInFlight
        parts.maximumBody = maximumBody
        parts.userAgent = userAgent
        return parts
    }
}
