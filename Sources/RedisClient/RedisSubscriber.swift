import Synchronization

/// A connection that listens: publish and subscribe on a connection of its own, as the protocol asks for.
package final class RedisSubscriber: Sendable {
    package let configuration: RedisConfiguration
    private let mailbox: Mailbox<SubscriptionMessage>
    private let ended: OneShot<Void>
    private let lastID = Atomic<UInt64>(0)

    /// Events that a slow reader may leave lying; beyond it the newest are dropped and the reader told.
    private static let eventLimit = 4096

    /// Channels changing hands faster than the thread takes note of.
    private static let mailboxCapacity = 65_536

    /// Connects, and throws why not when the first attempt fails. Later losses are repaired in the background.
    package static func connect(_ configuration: RedisConfiguration) async throws(RedisError) -> RedisSubscriber {
        let mailbox = try Mailbox<SubscriptionMessage>(capacity: mailboxCapacity)
        let session: @Sendable () -> any Session = {
            SubscriptionSession(mailbox, address: configuration.address, replyTimeout: configuration.commandTimeout)
        }
        let ended = try await ConnectionLoop.launch(configuration, name: "redis-pubsub", mailbox: mailbox, session: session)
        return RedisSubscriber(configuration, mailbox, ended)
    }

    private init(_ configuration: RedisConfiguration, _ mailbox: Mailbox<SubscriptionMessage>, _ ended: OneShot<Void>) {
        self.configuration = configuration
        self.mailbox = mailbox
        self.ended = ended
    }

    deinit { mailbox.close() }

    /// Listens to `channels`. Returns once the server has confirmed them all: what is published from then on arrives.
    package func subscribe(to channels: Set<String>) async throws(RedisError) -> RedisSubscription {
        precondition(!channels.isEmpty, "A subscription names at least one channel.")
        let id = lastID.add(1, ordering: .relaxed).newValue
        let (events, continuation) = AsyncStream.makeStream(
            of: RedisSubscription.Event.self, bufferingPolicy: .bufferingOldest(Self.eventLimit))
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

    /// Ends the connection and every subscription on it. Returns when its thread is done.
    package func close() async {
        mailbox.close()
        await ended.value
    }
}
