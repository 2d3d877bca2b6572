import Synchronization

/// A connection to one server for subscriptions. In RESP2 such a connection cannot send other commands.
final class NodeSubscriber: Sendable {
    let configuration: RedisConfiguration
    private let mailbox: Mailbox<SubscriptionMessage>
    private let ended: OneShot<Void>
    private let health: ConnectionHealth
    private let lastID = Atomic<UInt64>(0)

    /// Requests to subscribe that the thread has not handled.
    private static let mailboxCapacity = 65_536

    /// Begins to connect to a node of a cluster, and goes on until the connection is closed.
    /// - Parameter words: With sharded channels, the subscription to a channel whose slot moves away ends.
    static func start(_ configuration: RedisConfiguration, _ words: SubscriptionSession.Words) throws(RedisError) -> NodeSubscriber {
        let mailbox = try Mailbox<SubscriptionMessage>(capacity: mailboxCapacity)
        let health = ConnectionHealth()
        let (_, ended) = ConnectionLoop.start(
            configuration, name: "redis-pubsub", mailbox: mailbox, health: health, isPersistent: true
        ) {
            SubscriptionSession(
                mailbox, address: configuration.address, replyTimeout: configuration.commandTimeout, words: words)
        }
        return NodeSubscriber(configuration, mailbox, ended, health)
    }

    /// Connects to the server. Throws if the first attempt fails. Later losses are restored in the background.
    static func connect(_ configuration: RedisConfiguration) async throws(RedisError) -> NodeSubscriber {
        let mailbox = try Mailbox<SubscriptionMessage>(capacity: mailboxCapacity)
        let session: @Sendable () -> any Session = {
            SubscriptionSession(mailbox, address: configuration.address, replyTimeout: configuration.commandTimeout)
        }
        let health = ConnectionHealth()
        let ended = try await ConnectionLoop.launch(
            configuration, name: "redis-pubsub", mailbox: mailbox, health: health, session: session)
        return NodeSubscriber(configuration, mailbox, ended, health)
    }

    private init(
        _ configuration: RedisConfiguration, _ mailbox: Mailbox<SubscriptionMessage>, _ ended: OneShot<Void>, _ health: ConnectionHealth
    ) {
        self.health = health
        self.configuration = configuration
        self.mailbox = mailbox
        self.ended = ended
    }

    deinit { mailbox.close() }

    /// The facts in the server's last greeting.
    var server: ServerFacts? { health.server }

    /// Subscribes to channels. Returns when the server has confirmed them: all messages that are published later arrive.
    func subscribe(to channels: Set<String>) async throws(RedisError) -> RedisSubscription {
        precondition(!channels.isEmpty, "A subscription names at least one channel.")
        let id = lastID.add(1, ordering: .relaxed).newValue
        let (events, continuation) = AsyncStream.makeStream(
            of: RedisSubscription.Event.self, bufferingPolicy: .bufferingOldest(RedisSubscription.eventLimit))
        continuation.onTermination = { [mailbox] _ in _ = mailbox.post(.leave(id), weight: 0) }
        let confirmed = OneShot<Result<Void, RedisError>>()
        let deadline = ContinuousClock.now + configuration.commandTimeout
        let listener = Listener(id: id, channels: channels, events: continuation, confirmed: confirmed, deadline: deadline)
        let outcome = await withTaskCancellationHandler {
            switch mailbox.post(.listen(listener), weight: 1) {
            case .accepted: break
            case .full: confirmed.fire(.failure(RedisError(.backlogFull).at(configuration.address)))
            case .closed: confirmed.fire(.failure(RedisError(.closed).at(configuration.address)))
            }
            return await confirmed.value
        } onCancel: {
            confirmed.fire(.failure(RedisError(.cancelled).at(configuration.address)))
        }
        try outcome.get()
        return RedisSubscription(events: events)
    }

    /// Closes the connection without waiting for its thread.
    func beginClosing() { mailbox.close() }

    /// Closes the connection and its subscriptions, and returns when its thread has ended.
    func close() async {
        mailbox.close()
        await ended.value
    }
}
