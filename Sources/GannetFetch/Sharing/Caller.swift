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

/// Passes the body of the present transfer on to callers who want it while it comes. A caller that joins late hears of it at once.
package final class BodyRelay: Sendable {
    private struct State {
        var body: GrowingBody?
        var listeners: [UInt64: @Sendable (GrowingBody) -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// A body for the transfer that begins, if a caller wants one.
    func begin() -> GrowingBody? {
        let (body, listeners) = state.withLock { state in
            state.body = state.listeners.isEmpty ? nil : GrowingBody()
            return (state.body, Array(state.listeners.values))
        }
        if let body { for listener in listeners { listener(body) } }
        return body
    }

    /// - Parameter isOwn: Whether the fetch began for the listener's caller.
    func listen(_ listener: @escaping BodyListener, isOwn: Bool) -> UInt64 {
        let (number, body) = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = { listener($0, isOwn) }
            return (state.last, state.body)
        }
        if let body { listener(body, isOwn) }
        return number
    }

    func remove(_ number: UInt64) { state.withLock { _ = $0.listeners.removeValue(forKey: number) } }
}

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

/// Passes progress on to any number of listeners. A listener that comes late hears at once how far the transfer is.
package final class ProgressRelay: Sendable {
    /// Hears `nil` at the end.
    package typealias Listener = @Sendable (FetchProgress?) -> Void

    private struct State {
        var latest: FetchProgress?
        var isOver = false
        var listeners: [UInt64: Listener] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func report(_ progress: FetchProgress) {
        let listeners = state.withLock { state in
            state.latest = progress
            // A copy only where somebody listens: this runs for every few kilobytes of a body.
            return state.listeners.isEmpty ? [] : Array(state.listeners.values)
        }
        for listener in listeners { listener(progress) }
    }

    /// No more is reported.
    package func end() {
        let listeners = state.withLock { state in
            state.isOver = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(nil) }
    }

    /// Returns the number to ``remove(_:)`` the listener with.
    package func listen(_ listener: @escaping Listener) -> UInt64 {
        let (number, latest, isOver) = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            return (state.last, state.latest, state.isOver)
        }
        if let latest { listener(latest) }
        if isOver { listener(nil) }
        return number
    }

    package func remove(_ number: UInt64) { state.withLock { _ = $0.listeners.removeValue(forKey: number) } }
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
    package let progress = ProgressRelay()
    let bodies = BodyRelay()
    let elsewhere = WishesElsewhere()
    let hostWait = HostWait()

    package init(_ priority: FetchPriority) { self.priority = ChangingPriority(priority) }
}
