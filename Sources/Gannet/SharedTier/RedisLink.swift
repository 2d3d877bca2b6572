internal import RedisClient

/// A cache's connections, and the ear on its inbox: there as long as a fetcher uses them, whoever made them.
final class RedisLink: Sendable {
    let control: RedisConnection
    let bodies: RedisConnection
    let freed = FreedURLs()
    private let subscriber: RedisSubscriber
    private let listening: Task<Void, Never>

    init(control: RedisConnection, bodies: RedisConnection, subscriber: RedisSubscriber, inbox: RedisSubscription) {
        self.control = control
        self.bodies = bodies
        self.subscriber = subscriber
        listening = Task { [freed] in await freed.listen(to: inbox) }
    }

    deinit {
        listening.cancel()
    }

    func close() async {
        listening.cancel()
        await subscriber.close()
        await control.close()
        await bodies.close()
    }
}
