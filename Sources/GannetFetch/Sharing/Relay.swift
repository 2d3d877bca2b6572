internal import GannetBase

/// Passes news on to any number of listeners, such as the progress of a transfer. A listener that comes late hears the latest news at once.
package final class Relay<News: Sendable>: Sendable {
    /// Hears `nil` at the end.
    package typealias Listener = @Sendable (News?) -> Void

    private struct State {
        var latest: News?
        var isOver = false
        var listeners: [UInt64: Listener] = [:]
        var last: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(latest: News? = nil) { state = Mutex(State(latest: latest)) }

    package func report(_ news: News) {
        let listeners = state.withLock { state -> [Listener] in
            state.latest = news
            // A copy only where somebody listens: this runs for every few kilobytes of a body.
            return state.listeners.isEmpty ? [] : Array(state.listeners.values)
        }
        for listener in listeners { listener(news) }
    }

    /// Reports news that is made only where somebody listens. Where nobody does, the latest news is forgotten.
    @discardableResult
    func reportIfHeard(_ make: () -> News) -> News? {
        let (news, listeners) = state.withLock { state -> (News?, [Listener]) in
            state.latest = state.listeners.isEmpty ? nil : make()
            return (state.latest, Array(state.listeners.values))
        }
        if let news { for listener in listeners { listener(news) } }
        return news
    }

    /// No more is reported.
    package func end() {
        let listeners = state.withLock { state -> [Listener] in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(nil) }
    }

    /// Returns the number to ``remove(_:)`` the listener with.
    package func listen(_ listener: @escaping Listener) -> UInt64 {
        let (number, latest, isOver) = state.withLock { state -> (UInt64, News?, Bool) in
            state.last += 1
            if !state.isOver { state.listeners[state.last] = listener }
            return (state.last, state.latest, state.isOver)
        }
        if let latest { listener(latest) }
        if isOver { listener(nil) }
        return number
    }

    package func remove(_ number: UInt64) { state.withLock { _ = $0.listeners.removeValue(forKey: number) } }

    /// The news from now on, beginning with the latest. A slow loop misses news in between.
    /// - Parameter ended: Called when the loop has ended.
    func stream(_ ended: @escaping @Sendable () -> Void = {}) -> AsyncStream<News> {
        let (stream, continuation) = AsyncStream.makeStream(of: News.self, bufferingPolicy: .bufferingNewest(1))
        let number = listen { news in
            if let news { continuation.yield(news) } else { continuation.finish() }
        }
        continuation.onTermination = { [weak self] _ in
            self?.remove(number)
            ended()
        }
        return stream
    }
}

extension Relay<Void> {
    /// Something has changed. Each stream has one signal at most waiting for it.
    func signal() { report(()) }
}
