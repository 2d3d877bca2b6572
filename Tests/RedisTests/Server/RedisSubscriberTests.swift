import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct RedisSubscriberTests {
    private func message(_ channel: String, _ text: String) -> RedisSubscription.Event {
        .message(channel: channel, payload: Array(text.utf8))
    }

    @Test func `messages that are published after subscribing arrive on every channel`() async throws {
        let server = try await RedisServer.start()
        let subscriber = try await RedisSubscriber.connect(server.configuration)
        let one = try await subscriber.subscribe(to: ["a"])
        let both = try await subscriber.subscribe(to: ["a", "b"])
        try await server.command("PUBLISH", "a", "1")
        try await server.command("PUBLISH", "b", "2")
        var first = one.makeAsyncIterator()
        var second = both.makeAsyncIterator()
        #expect(await first.next() == message("a", "1"))
        #expect(await second.next() == message("a", "1"))
        #expect(await second.next() == message("b", "2"))
        await subscriber.close()
        #expect(await first.next() == nil)
        #expect(await failure { try await subscriber.subscribe(to: ["c"]) }?.kind == .closed)
    }

    @Test func `a restart interrupts, and messages flow again`() async throws {
        let server = try await RedisServer.start()
        let subscriber = try await RedisSubscriber.connect(server.configuration)
        var events = try await subscriber.subscribe(to: ["a"]).makeAsyncIterator()
        try await server.command("PUBLISH", "a", "before")
        #expect(await events.next() == message("a", "before"))
        try await server.kill9()
        try await server.restart()
        #expect(await events.next() == .interrupted)
        #expect(try await server.command("PUBLISH", "a", "after") == .integer(1))
        #expect(await events.next() == message("a", "after"))
        await subscriber.close()
    }

    @Test func `a subscription during an outage waits for the server, or fails with the reason`() async throws {
        let server = try await RedisServer.start()
        let subscriber = try await RedisSubscriber.connect(server.configuration.with { $0.commandTimeout = .milliseconds(300) })
        try await server.kill9()
        let error = await failure { try await subscriber.subscribe(to: ["a"]) }
        #expect(error?.kind == .unavailable, "\(error.map { "\($0)" } ?? "none")")
        let waiting = Task {
            try await eventually("the subscriber is connected again") { (try? await subscriber.subscribe(to: ["b"])) != nil }
        }
        try await server.restart()
        try await waiting.value
        await subscriber.close()
    }

    @Test func `a released subscription is unsubscribed`() async throws {
        let server = try await RedisServer.start()
        let subscriber = try await RedisSubscriber.connect(server.configuration)
        var subscription: RedisSubscription? = try await subscriber.subscribe(to: ["a"])
        #expect(try await server.command("PUBLISH", "a", "1") == .integer(1))
        _ = subscription
        subscription = nil
        try await eventually("nobody is subscribed") { try await server.command("PUBLISH", "a", "1") == .integer(0) }
        let cancelled = Task { () -> RedisError? in
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await subscriber.subscribe(to: ["a"]) }
        }
        #expect(await cancelled.value?.kind == .cancelled)
        try await eventually("nobody is subscribed") { try await server.command("PUBLISH", "a", "1") == .integer(0) }
        await subscriber.close()
    }

    @Test func `a slow reader is told, and the others do not wait for it`() async throws {
        let server = try await RedisServer.start()
        let subscriber = try await RedisSubscriber.connect(server.configuration)
        let slow = try await subscriber.subscribe(to: ["a"])
        try await server.command("EVAL", "for i = 1, 6000 do redis.call('PUBLISH', 'a', i) end", "0")
        // Confirmed behind all that was published before.
        var other = try await subscriber.subscribe(to: ["b"]).makeAsyncIterator()
        try await server.command("PUBLISH", "b", "1")
        #expect(await other.next() == message("b", "1"))
        var events = slow.makeAsyncIterator()
        var count = 0
        while let event = await events.next(), event != .interrupted {
            count += 1
            if count % 1000 == 0 { #expect(event == message("a", "\(count)")) }
        }
        #expect(count == 4095)
        await subscriber.close()
    }

    @Test func `a paused server is noticed at the next command`() async throws {
        let server = try await RedisServer.start()
        let subscriber = try await RedisSubscriber.connect(server.configuration.with { $0.commandTimeout = .milliseconds(200) })
        var events = try await subscriber.subscribe(to: ["a"]).makeAsyncIterator()
        server.pause()
        #expect(await failure { try await subscriber.subscribe(to: ["b"]) }?.kind == .commandTimeout)
        server.resume()
        #expect(await events.next() == .interrupted)
        #expect(try await server.command("PUBLISH", "a", "1") == .integer(1))
        #expect(await events.next() == message("a", "1"))
        await subscriber.close()
    }
}
