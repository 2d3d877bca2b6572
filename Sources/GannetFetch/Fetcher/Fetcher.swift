public import FoundationEssentials
public import GannetHTTP

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

    /// Gets answers from a function instead of the network: in a test, or for another protocol than HTTP.
    ///
    /// Answers are kept and shared like those of the network. The options for connections mean nothing to the function. An error that is no
    /// ``FetchError`` is thrown as ``FetchError/Kind/engine``.
    ///
    /// ```swift
    /// let fetcher = try Fetcher { request in FetchResponse(Data("hello".utf8), from: request.url) }
    /// ```
    public convenience init(
        _ options: FetcherOptions = FetcherOptions(), answering answer: @escaping @Sendable (FetchRequest) async throws -> FetchResponse
    ) throws(InvalidOptions) {
        try self.init(options, downloader: OwnAnswers(answer: answer))
    }

    /// Fetches with another downloader.
    package convenience init(_ options: FetcherOptions = FetcherOptions(), downloader: some Downloader) throws(InvalidOptions) {
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
    public func data(from url: URL) async throws(FetchError) -> Data { try await data(for: FetchRequest(url)) }

    /// The body of a request's answer.
    public func data(for request: FetchRequest) async throws(FetchError) -> Data {
        Data(try await served(request).body)
    }

    /// The answer of a request, with its status, its headers and its source.
    public func response(for request: FetchRequest) async throws(FetchError) -> FetchResponse {
        FetchResponse(try await served(request), for: request.url)
    }

    func served(_ request: FetchRequest, progress: ProgressListener? = nil) async throws(FetchError) -> ServedAnswer {
        try await fetch.serve(try request.checked(), request.caller(progress: progress)).get()
    }

    /// Cancels the fetch of a URL for all callers that asked for it without headers of their own.
    public func cancel(_ url: URL) async { await cancel(FetchRequest(url)) }

    /// Cancels the fetch of a request for all its callers.
    public func cancel(_ request: FetchRequest) async {
        if let request = try? request.checked() { await fetch.cancel(request) }
    }

    /// Removes the kept answer of a URL from all tiers. A shared Redis that cannot be reached at this moment keeps its copy.
    public func remove(_ url: URL) async { await remove(FetchRequest(url)) }

    /// Removes the kept answer of a request from all tiers. A shared Redis that cannot be reached at this moment keeps its copy.
    public func remove(_ request: FetchRequest) async {
        if let request = try? request.checked() { try? await fetch.remove(request) }
    }

    /// Removes all answers from memory and disk. Answers in a shared Redis stay, because other processes use them.
    public func clear() async { await fetch.removeAll() }

    /// Takes answers and values out of memory until both tiers cost no more than this, for times when memory is short. Answers on the disk and
    /// fetches that are under way stay.
    /// - Parameter limit: For answers in bytes, and for values in the unit of their costs. Without it nothing is left in memory.
    public func trimMemory(toCost limit: Int = 0) { fetch.trimMemory(toCost: limit) }

    /// Counts since the fetcher was made, such as answers by their source, and how full its tiers are.
    public var statistics: FetchStatistics { fetch.statistics }

    /// Ends all work. Call it last: a program that ends without it makes other processes wait until its locks in Redis run out.
    ///
    /// It cancels all fetches, writes answers to the disk, gives up the locks, and ends the engine's thread. Later calls that need a fetch
    /// fail as cancelled. It waits at most three seconds for transfers and transforms that do not end, at most three more for Redis, and for
    /// the disk as long as it takes.
    public func close() async {
        await fetch.close()
        engine?.shutdown()
    }
}

/// A dump shows the options, and none of the answers that are kept.
extension Fetcher: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["options": options], displayStyle: .class) }
}
