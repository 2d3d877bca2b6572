public import FetchCache
internal import HTTPEngine

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Fetcher {
    /// Fetches many URLs, and delivers each as soon as it is there.
    ///
    /// No more are fetched ahead of the consumer than may be in flight: who is slow to take results is not buried in them, and the URLs may be
    /// made up as they are needed. When the consumer leaves the loop, or its task is cancelled, the rest is called off.
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

    /// Fetches URLs into what is kept, when nobody else needs a place: what is asked for meanwhile comes first. Failures are left to whoever
    /// asks for the URL. Ends early when the task is cancelled.
    ///
    /// Returns how many could be had: those that were kept already, and those whose origins do not let anybody keep them, among them.
    @discardableResult
    public func prefetch(_ urls: some Sequence<URL>) async -> Int {
        var count = 0
        for await item in results(for: urls, priority: .background) {
            if case .success = item.result { count += 1 }
        }
        return count
    }

    func results(
        for urls: some Sequence<URL>, _ fetch: @escaping @Sendable (URL) async throws(FetchError) -> Data
    ) -> FetchResults {
        var iterator = urls.makeIterator()
        return FetchResults(atOnce: options.maximumInFlight, next: { iterator.next() }, fetch: fetch)
    }
}
