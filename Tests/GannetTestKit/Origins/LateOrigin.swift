// Linux only: epoll.
internal import GannetBase

/// A small HTTP/1.1 server on a port of 127.0.0.1 that answers every request a fixed time after it came, for measurements of clients.
///
/// It takes thousands of connections, and its one thread is no bottleneck for them: a distant origin has a latency, and no other limit.
package final class LateOrigin: Sendable {
    struct State: Sendable {
        var connections = 0
        var answered = 0
        var isStopped = false
    }

    /// Where it listens on 127.0.0.1.
    package let port: UInt16

    private let state: Monitor<State>
    private let wake: Int32

    /// - Parameters:
    ///   - latency: The time from a request to its answer.
    ///   - bodySize: In bytes. A body begins with the path of its URL, so that no two are equal.
    package init(latency: Duration, bodySize: Int) throws(KitError) {
        let listener = try Socket.listen(on: .loopback(port: 0), line: 4096)
        port = Socket.port(of: listener)
        let stopEnd: Int32
        (stopEnd, wake) = try makeChannel()
        let state = Monitor(State())
        self.state = state
        OwnedThread.start(name: "test-kit-late") {
            var loop = LateOriginLoop(listener: listener, stopEnd: stopEnd, latency: latency, bodySize: bodySize, state: state)
            loop.run()
            state.update { $0.isStopped = true }
        }
    }

    deinit {
        // The thread takes the end of the channel for the order to leave.
        close(wake)
    }

    /// The URL of a path.
    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// How many connections it has accepted.
    package var connections: Int { state.update { $0.connections } }

    /// How many requests it has answered.
    package var answered: Int { state.update { $0.answered } }

    /// Ends all connections and refuses new ones.
    package func stop() async throws {
        // Half a shutdown is an end of file to the other end, and the descriptor stays ours until deinit.
        shutdown(wake, Int32(SHUT_RDWR))
        try await state.wait { $0.isStopped ? () : nil }
    }
}
