/// A connection for subscriptions to channels: to one server, to the primary that Sentinels name, or to all primaries of a Redis Cluster.
package final class RedisSubscriber: Sendable {
    private enum Way: Sendable {
        case server(NodeSubscriber)
        case cluster(ClusterSubscriber)
    }

    package let configuration: RedisConfiguration
    private let way: Way

    /// Connects. Throws if the first attempt fails. Later losses are restored in the background.
    package static func connect(_ configuration: RedisConfiguration) async throws(RedisError) -> RedisSubscriber {
        // Several addresses are nodes of a cluster. One address may be a node too, which only its server knows.
        if configuration.seeds.isEmpty {
            let node = try await NodeSubscriber.connect(configuration)
            if node.server?.mode != .cluster { return RedisSubscriber(configuration, .server(node)) }
            node.beginClosing()
        }
        guard let cluster = try await RedisConnection.connect(configuration).cluster else {
            throw RedisError(.clustered, "it was in a cluster a moment ago").at(configuration.address)
        }
        return RedisSubscriber(configuration, .cluster(ClusterSubscriber(cluster)))
    }

    private init(_ configuration: RedisConfiguration, _ way: Way) {
        self.configuration = configuration
        self.way = way
    }

    /// Subscribes to channels. Returns when the server has confirmed them: all messages that are published later arrive. In a cluster it
    /// returns without the channels of a server that is away, and subscribes to them when it is back.
    package func subscribe(to channels: Set<String>) async throws(RedisError) -> RedisSubscription {
        precondition(!channels.isEmpty, "A subscription names at least one channel.")
        switch way {
        case .server(let node): return try await node.subscribe(to: channels)
        case .cluster(let cluster): return try await cluster.subscribe(to: channels)
        }
    }

    /// Closes the connection and its subscriptions, and returns when its threads have ended.
    package func close() async {
        switch way {
        case .server(let node): await node.close()
        case .cluster(let cluster): await cluster.close()
        }
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

    /// Unread events of a subscription. Further events are dropped, and the reader is told.
    static let eventLimit = 4096

    package func makeAsyncIterator() -> AsyncStream<Event>.Iterator {
        events.makeAsyncIterator()
    }
}
