/// A connection to one server, shared by any number of tasks. ``RedisConnection`` has one of it for each server.
///
/// Commands of all callers are sent in their order, in batches, without waiting for replies. A lost connection is restored in the background.
/// Then unsent commands follow on the new connection. Pending commands fail with ``RedisError/Kind/connectionLost``, because only the caller knows
/// whether a command may be repeated.
final class NodeConnection: Sendable {
    let configuration: RedisConfiguration
    private let mailbox: Mailbox<Request>
    private let ended: OneShot<Void>
    private let health: ConnectionHealth

    /// Begins to connect, and goes on until the connection is closed, also when the first attempt fails.
    /// - Parameters:
    ///   - changed: Called on the connection's thread when the connection is lost, when an attempt to restore it fails, and when it stands.
    ///   - noteSilence: Called on the connection's thread, as ``CommandSession`` says.
    static func start(
        _ configuration: RedisConfiguration, changed: @escaping @Sendable () -> Void,
        noteSilence: @escaping @Sendable (_ isSilent: Bool) -> Void
    ) throws(RedisError) -> NodeConnection {
        let mailbox = try Mailbox<Request>(capacity: configuration.maximumBacklogBytes)
        let health = ConnectionHealth(changed: changed)
        let (_, ended) = ConnectionLoop.start(
            configuration, name: "redis", mailbox: mailbox, health: health, isPersistent: true,
            session: { CommandSession(mailbox, address: configuration.address, noteSilence: noteSilence) })
        return NodeConnection(configuration, mailbox, ended, health)
    }

    /// Connects to the server. Throws if the first attempt fails.
    static func connect(_ configuration: RedisConfiguration) async throws(RedisError) -> NodeConnection {
        let mailbox = try Mailbox<Request>(capacity: configuration.maximumBacklogBytes)
        let session: @Sendable () -> any Session = { CommandSession(mailbox, address: configuration.address) }
        let health = ConnectionHealth()
        let ended = try await ConnectionLoop.launch(configuration, name: "redis", mailbox: mailbox, health: health, session: session)
        return NodeConnection(configuration, mailbox, ended, health)
    }

    private init(_ configuration: RedisConfiguration, _ mailbox: Mailbox<Request>, _ ended: OneShot<Void>, _ health: ConnectionHealth) {
        self.configuration = configuration
        self.mailbox = mailbox
        self.ended = ended
        self.health = health
    }

    deinit { mailbox.close() }

    /// Sends one command and waits for its reply. An error reply is thrown.
    ///
    /// A cancelled call ends at once. If its command was sent, the server may still execute it.
    /// - Parameter timeout: Replaces the configuration's `commandTimeout`, for commands that wait.
    @discardableResult
    func send(_ command: RedisCommand, timeout: Duration? = nil) async throws(RedisError) -> RedisReply {
        guard case .one(let result) = await perform(.one(command), timeout) else {
            preconditionFailure("A single command has a single answer.")
        }
        return try result.get()
    }

    /// Sends commands together and waits for all replies. This is not a transaction: the server may execute commands of other callers in between,
    /// and continues after a failed command.
    func pipeline(_ commands: [RedisCommand], timeout: Duration? = nil) async -> [Result<RedisReply, RedisError>] {
        if commands.isEmpty { return [] }
        guard case .many(let results) = await perform(.many(commands), timeout) else {
            preconditionFailure("A pipeline has one answer for each command.")
        }
        return results
    }

    /// The loss of the connection, or the error of the last attempt to restore it; `nil` while it stands.
    var failure: RedisError? { health.failure }

    /// Whether an attempt to restore the connection has failed, and none has succeeded since.
    var isAway: Bool { health.isAway }

    /// The errors of attempts to restore the connection, and `nil` when one has succeeded after them. A slow reader gets the newest.
    func outages() -> AsyncStream<RedisError?> { health.outages() }

    /// The facts in the server's last greeting.
    var server: ServerFacts? { health.server }

    /// Closes the connection without waiting for its thread.
    func beginClosing() { mailbox.close() }

    /// Closes the connection and returns when its thread has ended. Waiting calls fail with ``RedisError/Kind/closed``.
    func close() async {
        mailbox.close()
        await ended.value
    }

    private func perform(_ payload: Request.Payload, _ timeout: Duration?) async -> Request.Answer {
        let request = Request(payload, deadline: .now + (timeout ?? configuration.commandTimeout))
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard request.begin(continuation) else {
                    continuation.resume(returning: request.failure(RedisError(.cancelled).at(configuration.address)))
                    return
                }
                switch mailbox.post(request, weight: request.weight) {
                case .accepted: break
                case .full: request.fail(RedisError(.backlogFull).at(configuration.address))
                case .closed: request.fail(RedisError(.closed).at(configuration.address))
                }
            }
        } onCancel: {
            request.cancel(at: configuration.address)
        }
    }
}
