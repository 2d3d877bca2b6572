internal import CMicrohttpd
internal import GannetBase

/// Lets a connection wait for a task without a thread: libmicrohttpd asks nothing of it until a task wakes it.
///
/// A task may wake the connection between libmicrohttpd's question and the end of it. Then the connection does not sleep.
final class Suspension: Sendable {
    private struct State {
        var connection: Connection?
        /// Set while libmicrohttpd asks; a wake-up in this time is noted here.
        var isWoken = false
        var isSuspended = false
    }

    private struct Connection: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let state: Mutex<State>
    private let client: Client
    private let watch: DepartureWatch
    private let clientLeft: @Sendable () -> Void

    /// - Parameter clientLeft: Called when the client closes a connection that sleeps.
    init(_ connection: OpaquePointer, of client: Client, _ watch: DepartureWatch, clientLeft: @escaping @Sendable () -> Void) {
        state = Mutex(State(connection: Connection(pointer: connection)))
        self.client = client
        self.watch = watch
        self.clientLeft = clientLeft
    }

    /// libmicrohttpd begins to ask. To be called before the question is looked at.
    func begin() { state.withLock { $0.isWoken = false } }

    /// There is no answer to libmicrohttpd's question yet. To be called on the connection's thread.
    func sleep() {
        state.withLock { state in
            guard let connection = state.connection else { return }
            MHD_suspend_connection(connection.pointer)
            if state.isWoken {
                resume(connection)
            } else {
                state.isSuspended = true
                watch.add(client.descriptor, clientLeft)
            }
        }
    }

    /// Has libmicrohttpd read on until its client has sent nothing more. To be called on the connection's thread.
    ///
    /// Without this it waits for news after a short read, and the end of the connection may have come before that read: then nothing is new.
    func readAgain() {
        state.withLock { state in
            guard let connection = state.connection else { return }
            // A connection that comes out of its sleep counts as ready.
            MHD_suspend_connection(connection.pointer)
            resume(connection)
        }
    }

    /// Has libmicrohttpd ask again.
    func wake() {
        state.withLock { state in
            state.isWoken = true
            guard state.isSuspended, let connection = state.connection else { return }
            state.isSuspended = false
            watch.remove(client.descriptor)
            resume(connection)
        }
    }

    private func resume(_ connection: Connection) {
        MHD_resume_connection(connection.pointer)
        client.wakeup.signal()
    }

    /// The request is over, and its connection serves another or is gone.
    func end() { state.withLock { $0.connection = nil } }
}
