internal import Crawl
internal import GannetFetch
internal import GannetHTTP

/// A fetch for one client, who gets the body while it comes if it is a large one. When nobody holds this object any more, the client leaves
/// the fetch.
final class RunningFetch: Sendable {
    enum Arrival: Sendable {
        case whole(Result<ServedAnswer, FetchError>)
        case growing(GrowingBody, GrowingBody.Head)
    }

    /// A smaller body is sent when it is whole: it can be checked, and its fetch repeated, before the client hears of it.
    private static let leastForStream = 64 << 10

    private let arrivals: AsyncStream<Arrival>
    private let fetch: Task<Void, Never>

    /// - Parameter mayStream: Whether the client wants all of the body, without conditions.
    init(_ question: AnswerRequest, within time: Duration?, mayStream: Bool, by fetch: ClusterFetch) {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Arrival.self)
        // The first arrival is the only one. A body that is looked at ends with its transfer at the latest.
        @Sendable func arrive(_ arrival: Arrival) {
            arrived.yield(arrival)
            arrived.finish()
        }
        let listener: BodyListener = { body, isOwn in
            Task {
                guard let head = await body.head(after: Self.leastForStream), isOwn || fetch.mayBeShared(head, of: question) else { return }
                arrive(.growing(body, head))
            }
        }
        self.arrivals = arrivals
        self.fetch = Task { arrive(.whole(await fetch.answer(question, within: time, body: mayStream ? listener : nil))) }
    }

    deinit { fetch.cancel() }

    /// Returns when the fetch has ended, and its answer is kept if it may be.
    func conclusion() async { await fetch.value }

    /// The answer, or the beginning of a large body; nil when the task is cancelled. To be asked once.
    var arrival: Arrival? {
        get async {
            for await arrival in arrivals { return arrival }
            return nil
        }
    }
}
