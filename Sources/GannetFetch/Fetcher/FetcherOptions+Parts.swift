internal import FoundationEssentials
public import GannetHTTP

extension FetcherOptions {
    /// Throws when an option cannot be used.
    public func validate() throws(InvalidOptions) {
        guard memoryLimit >= 0, memoryCount >= 0 else { throw InvalidOptions("The memory tier's limits must not be negative.") }
        guard valueLimit >= 0, valueCount >= 0 else { throw InvalidOptions("The limits for values must not be negative.") }
        if let maximumAtHost, maximumAtHost < 1 { throw InvalidOptions("The limit of transfers from one host must be at least 1.") }
        guard (0...100).contains(retries) else { throw InvalidOptions("The number of retries must be from 0 to 100.") }
        guard (Duration.zero...RetryRule().longestPause).contains(retryPause) else {
            throw InvalidOptions("The first pause before a retry must be from 0 to 30 seconds.")
        }
        guard imageLimits.pixels >= 0, imageLimits.side >= 0 else { throw InvalidOptions("The limits of images must not be negative.") }
        try freshness.validate()
        try fetch.validate()
        if let diskFolder { try Self.validate(folder: diskFolder) }
        try DiskTier.validate(limit: diskLimit)
    }

    private static func validate(folder: URL) throws(InvalidOptions) {
        guard folder.isFileURL else { throw InvalidOptions("The folder for the disk tier is no file URL: write URL(filePath: …).") }
        // Foundation makes "./" of an empty path, which is mostly a setting that was forgotten.
        guard !folder.path.isEmpty, folder.relativeString != "./" else {
            throw InvalidOptions("The path of the folder for the disk tier is empty. The current folder is written URL(filePath: \".\").")
        }
    }

    func parts(_ downloader: any Downloader) throws(InvalidOptions) -> CachingFetch.Parts {
        var parts = CachingFetch.Parts(
            downloader: downloader, memory: MemoryCache(MemoryCacheOptions(costLimit: memoryLimit, countLimit: memoryCount)))
        if let diskFolder { parts.disk = AnswerDisk(try DiskTier(diskFolder.path, limit: diskLimit)) }
        parts.shared = shared?.tier
        parts.policy = freshness
        parts.maximumInFlight = fetch.maximumInFlight
        parts.maximumBody = fetch.maximumBody
        parts.userAgent = fetch.userAgent
        parts.maximumAtHost = maximumAtHost
        parts.retries.most = retries
        parts.retries.firstPause = retryPause
        parts.values = MemoryCacheOptions(costLimit: valueLimit, countLimit: valueCount)
        parts.observer = observer
        parts.advised = \.namingOption
        return parts
    }
}
