public import FetchCache
public import HTTPEngine
internal import ImageProbe

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Fetches each URL once: for all callers that ask at the same time, and for all later ones until the answer is out of date.
///
/// Make one for the whole program. Several do not know of each other's fetches. Nothing starts before the first URL is asked for.
///
/// ```swift
/// let fetcher = Fetcher()
/// let data = try await fetcher.data(from: url)
/// ```
///
/// A caller whose task is cancelled gets ``FetchError/Kind/cancelled`` at once. The fetch goes on for the other callers. When the last
/// caller leaves, the fetch is cancelled.
public final class Fetcher: Sendable {
    let fetch: CachingFetch
    let options: FetcherOptions
    private let engine: LazyEngine?

    /// Keeps answers in memory only.
    public convenience init() {
        do throws(InvalidOptions) {
            try self.init(FetcherOptions())
        } catch {
            preconditionFailure("The default options are valid: \(error)")
        }
    }

    /// Throws when an option cannot be used.
    public convenience init(_ options: FetcherOptions) throws(InvalidOptions) {
        try options.validate()
        let engine = LazyEngine(options.fetch)
        try self.init(options, engine, engine)
    }

    /// Fetches with a downloader of your own: a scripted one in a test, or one for another protocol than HTTP.
    ///
    /// The options for connections apply only as far as the downloader obeys them.
    public convenience init(_ options: FetcherOptions = FetcherOptions(), downloader: some Downloader) throws(InvalidOptions) {
        try options.validate()
        try self.init(options, downloader, nil)
    }

    private init(_ options: FetcherOptions, _ downloader: any Downloader, _ engine: LazyEngine?) throws(InvalidOptions) {
        self.options = options
        self.engine = engine
        fetch = CachingFetch(try options.parts(downloader))
    }

    deinit {
        engine?.shutdown()
    }

    /// The body of a URL.
    public func data(from url: URL) async throws(FetchError) -> Data {
        try await data(for: FetchRequest(url.absoluteString))
    }

    /// The body of a request's answer.
    public func data(for request: FetchRequest) async throws(FetchError) -> Data {
        Data(try await fetch.serve(request).get().body)
    }

    /// The answer of a request, with its status, its headers and its source.
    public func response(for request: FetchRequest) async throws(FetchError) -> FetchResponse {
        let served = try await fetch.serve(request).get()
        return FetchResponse(
            data: Data(served.body), finalURL: served.finalURL, status: served.status, headers: served.headers, source: served.source)
    }

    /// Cancels the fetch of a URL for all callers that asked for it without headers of their own.
    public func cancel(_ url: URL) async { await cancel(FetchRequest(url.absoluteString)) }

    /// Cancels the fetch of a request for all its callers.
    public func cancel(_ request: FetchRequest) async { await fetch.cancel(request) }

    /// Removes the kept answer of a URL from all tiers. A shared Redis that cannot be reached at this moment keeps its copy.
    public func remove(_ url: URL) async { await remove(FetchRequest(url.absoluteString)) }

    /// Removes the kept answer of a request from all tiers. A shared Redis that cannot be reached at this moment keeps its copy.
    public func remove(_ request: FetchRequest) async { await fetch.remove(request) }

    /// Removes all answers from memory and disk. Answers in a shared Redis stay, because other processes use them.
    public func clear() async { await fetch.removeAll() }

    /// Counts of answers by their source, since the fetcher was made.
    public var statistics: FetchStatistics { fetch.statistics }

    /// Ends all work. Call it last: a program that ends without it makes other processes wait until its locks in Redis run out.
    ///
    /// It cancels all fetches, writes answers to the disk, gives up the locks, and ends the engine's thread. Later calls that need a fetch
    /// fail as cancelled. It waits at most three seconds for transfers, at most three more for Redis, and for the disk as long as it takes.
    public func close() async {
        await fetch.close()
        engine?.shutdown()
    }
}

// MARK: Images

extension Fetcher {
    /// The bytes of an image, recognised by its content and not by its `Content-Type`: PNG, JPEG, GIF, WebP, AVIF, BMP, TIFF, ICO or SVG.
    ///
    /// An image that is cut short, malformed or larger than ``FetcherOptions/imageLimits`` fails with
    /// ``FetchError/Kind/unexpectedContent``.
    public func image(from url: URL) async throws(FetchError) -> FetchedImage {
        try await image(for: FetchRequest(url.absoluteString))
    }

    /// The image that answers a request.
    public func image(for request: FetchRequest) async throws(FetchError) -> FetchedImage {
        let body = try await fetch.serve(request).get().body
        do throws(ImageProbeError) {
            let info = try ImageProbe(limits: options.imageLimits).examine(body)
            return FetchedImage(data: Data(body), format: info.format, size: info.size)
        } catch {
            throw FetchError(kind: .unexpectedContent, url: request.url, detail: error.description)
        }
    }

    /// The images of many URLs. Returns when the last of them has come or failed.
    public func images(from urls: some Sequence<URL>) async -> [URL: Result<Data, FetchError>] {
        var images: [URL: Result<Data, FetchError>] = [:]
        for await item in results(for: urls, { url throws(FetchError) in try await self.image(from: url).data }) {
            images[item.url] = item.result
        }
        return images
    }
}

// MARK: Many URLs

extension Fetcher {
    /// Fetches many URLs, and delivers each result as soon as it is there.
    ///
    /// The number of fetches ahead of the loop is limited by `maximumInFlight`. So results do not pile up for a slow loop, and the sequence
    /// of URLs may be endless. When the loop ends, or its task is cancelled, the other fetches are cancelled.
    ///
    /// ```swift
    /// for await item in fetcher.results(for: urls) {
    ///     show(item.result, for: item.url)
    /// }
    /// ```
    public func results(for urls: some Sequence<URL>, priority: FetchPriority = .normal) -> FetchResults {
        results(for: urls) { url throws(FetchError) in
            try await self.data(for: FetchRequest(url.absoluteString) { $0.priority = priority })
        }
    }

    /// Fetches URLs into the tiers in the background: every other fetch comes first. A failure is reported only to later callers of the URL.
    /// Ends early when the task is cancelled.
    ///
    /// Returns how many URLs could be fetched. It counts URLs whose answers were kept already, and those whose origins forbid to keep them.
    @discardableResult
    public func prefetch(_ urls: some Sequence<URL>) async -> Int {
        var count = 0
        for await item in results(for: urls, priority: .background) {
            if case .success = item.result { count += 1 }
        }
        return count
    }

    private func results(
        for urls: some Sequence<URL>, _ fetch: @escaping @Sendable (URL) async throws(FetchError) -> Data
    ) -> FetchResults {
        var iterator = urls.makeIterator()
        return FetchResults(atOnce: options.maximumInFlight, next: { iterator.next() }, fetch: fetch)
    }
}
