internal import GannetBase
package import GannetHTTP

/// How a caller waits for a fetch: its priority, which may change, its listener for progress, and for how long it waits.
package struct Caller: Sendable {
    package let priority: ChangingPriority
    package let progress: ProgressListener?
    /// Hears of the body of each transfer when it begins.
    package let body: BodyListener?
    /// The caller leaves after this time.
    package let deadline: Duration?

    package init(
        _ priority: ChangingPriority, progress: ProgressListener? = nil, body: BodyListener? = nil, deadline: Duration? = nil
    ) {
        self.priority = priority
        self.progress = progress
        self.body = body
        self.deadline = deadline
    }

    package init(_ priority: FetchPriority) { self.init(ChangingPriority(priority)) }

    /// The same caller after it has waited for some time.
    func after(_ time: Duration) -> Caller {
        Caller(priority, progress: progress, body: body, deadline: deadline.map { max(.zero, $0 - time) })
    }
}

/// Hears of a body that is about to come, and whether its fetch began for the listener's caller.
package typealias BodyListener = @Sendable (GrowingBody, _ isOwn: Bool) -> Void

/// A priority that may change while somebody waits: of a caller, and of a fetch, which has the highest priority of its callers.
package final class ChangingPriority: Sendable {
    private struct State {
        var value: FetchPriority
        var listener: (@Sendable (FetchPriority) -> Void)?
    }

    private let state: Mutex<State>

    package init(_ value: FetchPriority) { state = Mutex(State(value: value)) }

    package var value: FetchPriority { state.withLock { $0.value } }

    package func change(to value: FetchPriority) {
        let listener = state.withLock { state in
            state.value = value
            return state.listener
        }
        listener?(value)
    }

    /// Calls the listener at each change from now on, instead of the listener before. Returns the present value.
    @discardableResult
    func listen(_ listener: (@Sendable (FetchPriority) -> Void)?) -> FetchPriority {
        state.withLock { state in
            state.listener = listener
            return state.value
        }
    }
}

/// Whether callers of other processes want a fetch. They can only while this process has the URL's lease.
package final class WishesElsewhere: Sendable {
    private let question = Mutex<(@Sendable () async -> Bool)?>(nil)

    func ask(_ question: (@Sendable () async -> Bool)?) { self.question.withLock { $0 = question } }

    var mayWant: Bool { question.withLock { $0 != nil } }

    func wants() async -> Bool { await question.withLock { $0 }?() ?? false }
}

/// The side of a shared fetch that its callers can change or hear.
package struct SharedWork: Sendable {
    package let priority: ChangingPriority
    package let progress = Relay<FetchProgress>()
    /// The body of the present transfer, for callers who want it while it comes.
    let bodies = Relay<GrowingBody>()
    let elsewhere = WishesElsewhere()
    let hostWait = HostWait()

    package init(_ priority: FetchPriority) { self.priority = ChangingPriority(priority) }
}
