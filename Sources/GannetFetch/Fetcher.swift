public import FetchCache
internal import GannetBasics
public import HTTPEngine

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Fetches URLs, each once: for all callers who ask for it at a time, and from then on for as long as the answer is good.
///
/// One for a whole program is enough, and better than several: they would not know of each other's fetches. Nothing starts before the first
/// URL is asked for.
///
/// ```swift
/// let fetcher = Fetcher()
/// let data = try await fetcher.data(from: url)
/// ```
///
/// A caller whose task is cancelled is answered with ``FetchError/Kind/cancelled`` at once. The fetch goes on for the others, and ends with the last
/// of them.
public final class Fetcher: Sendable {
    let fetch: CachingFetch
    let options: FetcherOptions
    private let engine: LazyEngine?

    /// Keeps answers in memory, and nowhere else.
    public convenience init() {
        do throws(InvalidOptions) {
            try self.init(FetcherOptions())
        } catch {
            preconditionFailure("The default options are valid: \(error)")
        }
    }

    /// Throws when one of the options cannot be used.
    public convenience init(_ options: FetcherOptions) throws(InvalidOptions) {
        try options.validate()
        let engine = LazyEngine(options.fetch)
        try self.init(options, engine, engine)
    }

    /// Fetches with a downloader of one's own: a scripted one in a test, or one that goes through something else than HTTP.
    ///
    /// Of the options, those for connections are the downloader's to heed.
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

    /// The body that answers a request.
    public func data(for request: FetchRequest) async throws(FetchError) -> Data {
        Data(try await fetch.serve(request).get().body)
    }

    /// The answer to a request, with all that is known of it.
    public func response(for request: FetchRequest) async throws(FetchError) -> FetchResponse {
        let served = try await fetch.serve(request).get()
        return FetchResponse(
            data: Data(served.body), finalURL: served.finalURL, status: served.status, headers: served.headers, source: served.source)
    }

    /// Calls off the fetch of a URL, for all who wait for it without headers of their own.
    public func cancel(_ url: URL) async { await cancel(FetchRequest(url.absoluteString)) }

    /// Calls off the fetch for a request, for all who wait for it.
    public func cancel(_ request: FetchRequest) async { await fetch.cancel(request) }

    /// Forgets what is kept of a URL, in all tiers. Where processes share a Redis that cannot be reached just then, what lies there stays.
    public func remove(_ url: URL) async { await remove(FetchRequest(url.absoluteString)) }

    /// Forgets what is kept for a request, in all tiers. Where processes share a Redis that cannot be reached just then, what lies there stays.
    public func remove(_ request: FetchRequest) async { await fetch.remove(request) }

    /// Forgets all that is kept in memory and on disk. What processes share is left to them.
    public func clear() async { await fetch.removeAll() }

    /// What has been served, and from where.
    public var statistics: FetchStatistics { fetch.statistics }

    /// Calls off everything under way, writes what has come to the disk, lets go of what other processes wait for, and ends the engine's thread.
    /// A program's last call: without it they wait until locks end by themselves. What has to be fetched afterwards fails as cancelled.
    ///
    /// For transfers that do not heed their end it waits three seconds at most, and for a Redis that does not reply as long again; for the disk
    /// as long as it takes.
    public func close() async {
        await fetch.close()
        engine?.shutdown()
    }
}
