internal import Crawl
internal import GannetBase
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

    private struct State {
        var arrival: Arrival?
        var waiter: CheckedContinuation<Arrival?, Never>?
        var tasks: [Task<Void, Never>] = []
        var isOver = false
    }

    /// Apart from the object, so that its tasks do not hold it.
    private final class Box: Sendable {
        let state = Mutex(State())

        func arrive(_ arrival: Arrival?) {
            let waiter = state.withLock { state in
                if arrival == nil { state.isOver = true }
                state.arrival = state.arrival ?? arrival
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: arrival)
        }

        func run(_ work: @escaping @Sendable () async -> Void) {
            state.withLock { state in
                if !state.isOver { state.tasks.append(Task { await work() }) }
            }
        }

        func end() {
            arrive(nil)
            let tasks = state.withLock { state in
                defer { state.tasks = [] }
                return state.tasks
            }
            for task in tasks { task.cancel() }
        }
    }

    private let box = Box()

    /// - Parameter mayStream: Whether the client wants all of the body, without conditions.
    init(_ question: AnswerRequest, within time: Duration?, mayStream: Bool, by fetch: ClusterFetch) {
        let box = box
        let listener: BodyListener = { body, isOwn in
            box.run {
                guard let head = await body.head(after: Self.leastForStream), isOwn || fetch.mayBeShared(head, of: question) else { return }
                box.arrive(.growing(body, head))
            }
        }
        box.run { box.arrive(.whole(await fetch.answer(question, within: time, body: mayStream ? listener : nil))) }
    }

    deinit { box.end() }

    /// Returns when the fetch has ended, and its answer is kept if it may be.
    func conclusion() async {
        let fetch = box.state.withLock { $0.tasks.first }
        await fetch?.value
    }

    /// The answer, or the beginning of a large body; nil when the task is cancelled.
    var arrival: Arrival? {
        get async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in
                    let (arrival, isOver) = box.state.withLock { state -> (Arrival?, Bool) in
                        if state.arrival == nil, !state.isOver { state.waiter = waiter }
                        return (state.arrival, state.arrival != nil || state.isOver)
                    }
                    if isOver { waiter.resume(returning: arrival) }
                }
            } onCancel: {
                box.end()
            }
        }
    }
}
