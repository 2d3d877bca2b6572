public import FoundationEssentials
public import GannetHTTP

/// The outcome of one URL of many.
public struct FetchResult<Value: Sendable>: Sendable {
    public var url: URL
    public var result: Result<Value, FetchError>
}

/// Prints without the URL's password and the bytes of a body: in a log, in a dump, or as a part of another value.
extension FetchResult: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let printed: Result<Any, FetchError> = result.map { value -> Any in
            if let body = value as? Data { body.sizeInWords } else { value }
        }
        return Mirror(self, children: ["url": RedactedURL(url.absoluteString).description, "result": printed], displayStyle: .struct)
    }
}

/// The results of many URLs, in the order in which they come. Each URL is delivered once, even to several loops.
public struct FetchResults<Value: Sendable>: AsyncSequence {
    public typealias Element = FetchResult<Value>
    public typealias Failure = Never

    let atOnce: Int
    let next: () -> URL?
    let fetch: Fetch
    let tally: ProgressTally

    typealias Fetch = @Sendable (URL, @escaping ProgressListener) async throws(FetchError) -> Value

    /// How far all the fetches are together. Each loop hears the latest state first, and may miss states in between. It ends after the last
    /// fetch, and when the loop over the results has ended and nobody holds them.
    ///
    /// The results need a loop of their own, which lets the fetches begin:
    ///
    /// ```swift
    /// let results = fetcher.results(for: urls)
    /// let progress = results.progress
    /// let bar = Task { for await total in progress { show(total) } }
    /// for await item in results { show(item.result, for: item.url) }
    /// ```
    public var progress: AsyncStream<TotalProgress> { tally.stream() }

    /// Fetches go on while the iterator exists, even if the sequence is gone. A second iterator takes the URLs that the first has left.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// All results by URL. Returns after the last result. A cancelled task gets the results so far.
    ///
    /// ```swift
    /// let images = await fetcher.images(from: urls).collected()
    /// ```
    public func collected() async -> [URL: Result<Value, FetchError>] {
        var results: [URL: Result<Value, FetchError>] = [:]
        for await item in self { results[item.url] = item.result }
        return results
    }

    /// Starts fetches as results are asked for. When the iterator is freed, it cancels the fetches that are under way.
    public final class AsyncIterator: AsyncIteratorProtocol {
        private typealias Arrival = (number: Int, result: FetchResult<Value>)

        private let sequence: FetchResults
        private let arrived: AsyncStream<Arrival>.Continuation
        private var arrivals: AsyncStream<Arrival>.Iterator
        private var tasks: [Int: Task<Void, Never>] = [:]
        private var isAtEnd = false

        init(_ sequence: FetchResults) {
            self.sequence = sequence
            let stream: AsyncStream<Arrival>
            (stream, arrived) = AsyncStream.makeStream()
            arrivals = stream.makeAsyncIterator()
        }

        deinit {
            for task in tasks.values { task.cancel() }
        }

        /// The next result; `nil` after the last one, and when the task is cancelled.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async -> FetchResult<Value>? {
            if Task.isCancelled { cancelAll() }
            fill()
            guard !tasks.isEmpty else { return nil }
            guard let (number, result) = await arrivals.next(isolation: actor) else {
                cancelAll()
                return nil
            }
            tasks[number] = nil
            return result
        }

        public func next() async -> FetchResult<Value>? { await next(isolation: nil) }

        private func fill() {
            while !isAtEnd, tasks.count < sequence.atOnce {
                guard let url = sequence.next() else {
                    isAtEnd = true
                    sequence.tally.complete()
                    return
                }
                let number = sequence.tally.begin()
                tasks[number] = Task { [fetch = sequence.fetch, tally = sequence.tally, arrived] in
                    let result: Result<Value, FetchError>
                    do throws(FetchError) {
                        result = .success(try await fetch(url) { tally.report($0, of: number) })
                        tally.end(number, isFailure: false)
                    } catch {
                        result = .failure(error)
                        tally.end(number, isFailure: true)
                    }
                    arrived.yield((number, FetchResult(url: url, result: result)))
                }
            }
        }

        private func cancelAll() {
            for task in tasks.values { task.cancel() }
            tasks = [:]
            isAtEnd = true
            sequence.tally.complete()
        }
    }
}
