import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// Processes that listen, each on its own inbox in the home partition, as a test sees them.
struct Inboxes: Sendable {
    let names: [String]
    private let subscriber: RedisSubscriber
    private let subscriptions: [RedisSubscription]
    private let fixture: QueueFixture

    init(_ fixture: QueueFixture, _ processes: [String]) async throws {
        self.fixture = fixture
        subscriber = try await RedisSubscriber.connect(fixture.redis.configuration)
        names = processes
        var subscriptions: [RedisSubscription] = []
        for name in names {
            subscriptions.append(try await subscriber.subscribe(to: [fixture.cluster.inbox(of: name, in: fixture.cluster.home)]))
        }
        self.subscriptions = subscriptions
    }

    /// The messages that have come to each inbox. A message of our own ends the wait.
    func messages() async throws -> [[String]] {
        var all: [[String]] = []
        for (name, subscription) in zip(names, subscriptions) {
            _ = try await fixture.cluster.publish(Array("end".utf8), to: fixture.cluster.inbox(of: name, in: fixture.cluster.home))
            var mine: [String] = []
            for await event in subscription {
                guard case .message(_, let payload) = event else { throw KitError("the subscription was interrupted") }
                if payload == Array("end".utf8) { break }
                mine.append(StateDump.shown(payload))
            }
            all.append(mine)
        }
        return all
    }

    func close() async { await subscriber.close() }
}
