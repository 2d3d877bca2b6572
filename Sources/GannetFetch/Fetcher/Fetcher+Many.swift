public import FoundationEssentials
internal import GannetBase
internal import GannetHTTP

/// Lists of URLs.
extension Fetcher {
    /// Fetches many URLs, and delivers each body as soon as it is there.
    ///
    /// The number of fetches ahead of the loop is limited by `maximumInFlight`. So results do not pile up for a slow loop, and the sequence
    /// of URLs may be endless. When the loop ends, or its task is cancelled, the other fetches are cancelled.
    ///
    /// ```swift
    /// for await item in fetcher.results(for: urls) {
    ///     show(item.result, for: item.url)
    /// }
    /// ```
    public func results(for urls: some Sequence<URL>, priority: FetchPriority = .normal) -> FetchResults<Data> {
        many(urls) { url, progress throws(FetchError) in
            Data(try await self.served(FetchRequest(url, priority: priority), progress: progress).body)
        }
    }

    /// Makes a value of each URL's body, as ``value(from:variant:cost:transform:)`` does, and delivers it as soon as it is there.
    public func results<Value: Sendable>(
        for urls: some Sequence<URL>, priority: FetchPriority = .normal, variant: String = "", cost: (@Sendable (Value) -> Int)? = nil,
        transform: @escaping @Sendable (Data) async throws -> Value
    ) -> FetchResults<Value> {
        let recipe = ValueRecipe(variant: variant, cost: cost) { try await transform(Data($0)) }
        return many(urls) { url, progress throws(FetchError) in
            let request = FetchRequest(url, priority: priority)
            return try await self.fetch.value(try request.checked(), recipe, request.caller(progress: progress)).get()
        }
    }

    /// Fetches many images, and delivers each as soon as it is there, with its format and size.
    public func images(from urls: some Sequence<URL>, priority: FetchPriority = .normal) -> FetchResults<FetchedImage> {
        many(urls) { url, progress throws(FetchError) in
            let request = FetchRequest(url, priority: priority)
            return try self.examined(try await self.served(request, progress: progress), request)
        }
    }

    /// Fetches URLs into the tiers in the background: every other fetch comes first. A failure is reported only to later callers of the URL.
    ///
    /// Returns how many URLs could be fetched, and how many could not. A URL whose answer was kept already counts as fetched, and so does
    /// one whose origin forbids to keep its answer. When the task is cancelled, the prefetch ends early.
    @discardableResult
    public func prefetch(_ urls: some Sequence<URL>) async -> TotalProgress {
        var last = TotalProgress()
        for await progress in prefetching(urls) { last = progress }
        return last
    }

    /// The same as ``prefetch(_:)``, and tells how far it is. A loop hears the latest state and may miss states in between. When the loop
    /// ends, the prefetch ends.
    public func prefetching(_ urls: some Sequence<URL>) -> AsyncStream<TotalProgress> {
        let urls = Array(urls)
        let tally = ProgressTally(urls: urls.count)
        let task = Task {
            let results = many(urls, tally) { url, progress throws(FetchError) in
                _ = try await self.served(FetchRequest(url, priority: .background), progress: progress)
            }
            for await _ in results {}
        }
        return tally.stream { task.cancel() }
    }

    private func many<Value: Sendable>(
        _ urls: some Sequence<URL>, _ tally: ProgressTally? = nil, _ fetch: @escaping FetchResults<Value>.Fetch
    ) -> FetchResults<Value> {
        var iterator = urls.makeIterator()
        return FetchResults(
            atOnce: options.maximumInFlight, next: { iterator.next() }, fetch: fetch,
            tally: tally ?? ProgressTally(urls: urls.underestimatedCount))
    }
}
