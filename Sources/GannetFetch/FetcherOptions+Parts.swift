internal import FetchCache
internal import HTTPCaching
public import HTTPEngine

extension FetcherOptions {
    /// Throws when an option cannot be used.
    public func validate() throws(InvalidOptions) {
        guard memoryLimit >= 0, memoryCount >= 0 else { throw InvalidOptions("The memory tier's limits must not be negative.") }
        try freshness.validate()
        try fetch.validate()
        if let diskFolder { try Self.validate(folder: diskFolder) }
        try diskOptions.validate()
    }

    private static func validate(folder: String) throws(InvalidOptions) {
        guard !folder.isEmpty else { throw InvalidOptions("The folder for the disk tier has no name.") }
        // For the system the name would end at the zero byte, and name another folder.
        guard !folder.utf8.contains(0) else { throw InvalidOptions("The name of the folder for the disk tier has a zero byte in it.") }
        guard folder != "~", !folder.hasPrefix("~/") else {
            throw InvalidOptions(
                "The folder for the disk tier is \(folder.escapedForDisplay), but ~ is not expanded: write the whole path.")
        }
    }

    private var diskOptions: DiskTierOptions {
        var options = DiskTierOptions()
        options.limit = diskLimit
        return options
    }

    func parts(_ downloader: any Downloader) throws(InvalidOptions) -> CachingFetch.Parts {
        var parts = CachingFetch.Parts(
            downloader: downloader, memory: MemoryCache(MemoryCacheOptions(costLimit: memoryLimit, countLimit: memoryCount)))
        if let diskFolder { parts.disk = AnswerDisk(try DiskTier(diskFolder, diskOptions)) }
        parts.shared = shared?.tier
        parts.policy = freshness
        parts.maximumInFlight = fetch.maximumInFlight
        parts.maximumBody = fetch.maximumBody
        parts.userAgent = fetch.userAgent
        return parts
    }
}
