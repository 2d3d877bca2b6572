/// A connection to one Redis server, shared by any number of tasks.
///
/// Commands of all callers go out in the order they come, in batches, without waiting for each other's replies. A lost
/// connection is made again by itself: what was never sent follows on the next one, what was sent and not answered fails with
/// ``RedisError/Kind/connectionLost``, since only its caller knows whether it may be repeated.
package final class RedisConnection: Sendable {
    package let configuration: RedisConfiguration
    private let mailbox: Mailbox<Request>
    private let ended: OneShot<Void>

    /// Connects, and throws why not when the first attempt fails. Later losses are repaired in the background.
    package static func connect(_ configuration: RedisConfiguration) async throws(RedisError) -> RedisConnection {
        let mailbox = try Mailbox<Request>(capacity: configuration.maximumBacklogBytes)
        let session: @Sendable () -> any Session = { CommandSession(mailbox, address: configuration.address) }
        let ended = try await ConnectionLoop.launch(configuration, name: "redis", mailbox: mailbox, session: session)
        return RedisConnection(configuration, mailbox, ended)
    }

    private init(_ configuration: RedisConfiguration, _ mailbox: Mailbox<Request>, _ ended: OneShot<Void>) {
        self.configuration = configuration
        self.mailbox = mailbox
        self.ended = ended
    }

    deinit { mailbox.close() }

    /// Sends one command and waits for its reply. An error reply is thrown.
    ///
    /// A cancelled call ends at once. If its command had been sent, the server may still carry it out.
    /// - Parameter timeout: In place of the configuration's `commandTimeout`, for commands that wait by design.
    @discardableResult
    package func send(_ command: RedisCommand, timeout: Duration? = nil) async throws(RedisError) -> RedisReply {
        guard case .one(let result) = await perform(.one(command), timeout) else {
            preconditionFailure("A single command has a single answer.")
        }
        return try result.get()
    }

    /// Sends commands together and waits for all replies, each with its own outcome. They are not a transaction: commands of
    /// other callers may come in between, and one that fails does not hold up the next.
    package func pipeline(_ commands: [RedisCommand], timeout: Duration? = nil) async -> [Result<RedisReply, RedisError>] {
        if commands.isEmpty { return [] }
        guard case .many(let results) = await perform(.many(commands), timeout) else {
            preconditionFailure("A pipeline has one answer for each command.")
        }
        return results
    }

    /// Calls a script with its `KEYS` and `ARGV`.
    @discardableResult
    package func run(
        _ script: RedisScript, keys: [RedisArgument], _ arguments: [RedisArgument] = [], timeout: Duration? = nil
    ) async throws(RedisError) -> RedisReply {
        try await send(RedisCommand(script: script, keys: keys, arguments: arguments), timeout: timeout)
    }

    /// Ends the connection; whatever still waits fails with ``RedisError/Kind/closed``. Returns when its thread is done.
    package func close() async {
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
