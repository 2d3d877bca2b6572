import Synchronization

/// A connection for subscriptions. In RESP2 such a connection cannot send other commands.
package final class RedisSubscriber: Sendable {
    package let configuration: RedisConfiguration
    private let mailbox: Mailbox<SubscriptionMessage>
    private let ended: OneShot<Void>
    private let lastID = Atomic<UInt64>(0)

    /// Unread events of a subscription. Further events are dropped, and the reader is told.
    private static let eventLimit = 4096

    /// Requests to subscribe that the thread has not handled.
    private static let mailboxCapacity = 65_536

    /// Connects to the server. Throws if the first attempt fails. Later losses are restored in the background.
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

    /// Subscribes to channels. Returns when the server has confirmed them: all messages that are published later arrive.
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

    /// Closes the connection and its subscriptions, and returns when its thread has ended.
    package func close() async {
        mailbox.close()
        await ended.value
    }
}

/// The messages of channels. The subscription ends when it is released.
package struct RedisSubscription: AsyncSequence, Sendable {
    package enum Event: Sendable, Equatable {
        case message(channel: String, payload: [UInt8])
        /// Messages may have been missed: the connection was lost and restored, or the reader was too slow.
        case interrupted
    }

    let events: AsyncStream<Event>

    package func makeAsyncIterator() -> AsyncStream<Event>.Iterator {
        events.makeAsyncIterator()
    }
}
