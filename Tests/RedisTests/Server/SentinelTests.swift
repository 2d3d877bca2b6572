import GannetTestKit
import Testing

@testable import GannetRedisClient

/// The client, a primary with a replica, and three Sentinels.
@Suite struct SentinelTests {
    private static func configuration(_ url: String) throws -> RedisConfiguration {
        try RedisConfiguration(url: url).with {
            $0.shortestBackoff = .milliseconds(1)
            $0.longestBackoff = .milliseconds(50)
        }
    }

    @Test func `the primary is found, and its successor after a failover`() async throws {
        let sentinels = try await RedisSentinels.start()
        let connection = try await RedisConnection.connect(Self.configuration(sentinels.url))
        let subscriber = try await RedisSubscriber.connect(connection.configuration)
        let subscription = try await subscriber.subscribe(to: ["channel"])
        var events = subscription.makeAsyncIterator()
        try await connection.send(RedisCommand("SET", "key", "before"))
        #expect(try await sentinels.primary.command("GET", "key").text == "before")
        try await connection.send(RedisCommand("WAIT", "1", "10000"))

        try await sentinels.primary.kill9()
        try await bounded("the replica is used") {
            while true {
                do {
                    try await connection.send(RedisCommand("SET", "key", "after"))
                    return
                } catch let error as RedisError {
                    guard error.isTransient else { throw error }
                }
            }
        }
        #expect(try await sentinels.replica.command("GET", "key").text == "after")
        #expect(await events.next() == .interrupted)
        try await connection.send(RedisCommand("PUBLISH", "channel", "text"))
        #expect(await events.next() == .message(channel: "channel", payload: Array("text".utf8)))
        await subscriber.close()
        await connection.close()
    }

    @Test func `all connections leave a primary that hangs, before it goes on as if nothing had happened`() async throws {
        let sentinels = try await RedisSentinels.start()
        let names = ["busy", "quiet", "listening"]
        func configuration(_ name: String) throws -> RedisConfiguration {
            try Self.configuration(sentinels.url).with { $0.clientName = name }
        }
        let busy = try await RedisConnection.connect(configuration("busy"))
        let quiet = try await RedisConnection.connect(configuration("quiet"))
        let subscriber = try await RedisSubscriber.connect(configuration("listening"))
        let subscription = try await subscriber.subscribe(to: ["channel"])
        sentinels.primary.pause()
        defer { sentinels.primary.resume() }
        let lost = await failure { try await busy.send(RedisCommand("SET", "key", "lost"), timeout: .seconds(60)) }
        #expect(lost?.kind == .connectionLost && lost?.mayHaveExecuted == true, "\(lost as Any)")
        // Nobody uses the other two meanwhile.
        try await eventually("all are at the new primary") {
            let clients = try await sentinels.replica.command("CLIENT", "LIST").text ?? ""
            return names.allSatisfy { clients.contains(" name=\($0) ") }
        }
        sentinels.primary.resume()
        for connection in [busy, quiet] { try await connection.send(RedisCommand("RPUSH", "list", "element")) }
        #expect(try await sentinels.replica.command("LLEN", "list").text == "2")
        withExtendedLifetime(subscription) {}
        await subscriber.close()
        for connection in [busy, quiet] { await connection.close() }
    }

    @Test func `a Sentinel that is away is passed over, and the outage of all is told`() async throws {
        let sentinels = try await RedisSentinels.start(downAfter: .seconds(60))
        try await sentinels.kill(0)
        let connection = try await RedisConnection.connect(Self.configuration(sentinels.url))
        try await connection.send(RedisCommand("SET", "key", "value"))
        await connection.close()
        let unknown = sentinels.url.replacing("/\(RedisSentinels.primaryName)", with: "/other")
        let error = await failure { try await RedisConnection.connect(Self.configuration(unknown)) }
        #expect(error?.kind == .unresolvable && error?.description.contains("know no primary of the name 'other'") == true)
        for index in 1...2 { try await sentinels.kill(index) }
        let silent = await failure { try await RedisConnection.connect(Self.configuration(sentinels.url)) }
        #expect(
            silent?.kind == .unreachable && silent?.description.hasPrefix("No Sentinel of redis+sentinel://") == true, "\(silent as Any)")
    }

    @Test func `a Sentinel that hangs holds up no connect`() async throws {
        let sentinels = try await RedisSentinels.start(downAfter: .seconds(60))
        sentinels.pause(0)
        defer { sentinels.resume(0) }
        let connection = try await bounded("another Sentinel answers") {
            try await RedisConnection.connect(Self.configuration(sentinels.url))
        }
        try await connection.send(RedisCommand("SET", "key", "value"))
        await connection.close()
    }

    @Test func `a Sentinel, a replica and a server that is not a Sentinel are told apart`() async throws {
        let sentinels = try await RedisSentinels.start(downAfter: .seconds(60))
        let hosts = sentinels.url.dropFirst("redis+sentinel://".count).prefix { $0 != "," }
        let plain = await failure { try await RedisConnection.connect(Self.configuration("redis://\(hosts)")) }
        #expect(plain?.kind == .invalidConfiguration && plain?.description.contains("redis+sentinel://") == true)
        let replica = "127.0.0.1:\(sentinels.replica.port ?? 0)"
        #expect(await failure { try await RedisConnection.connect(Self.configuration("redis://\(replica)")) }?.kind == .readOnly)
        let other = await failure { try await RedisConnection.connect(Self.configuration("redis+sentinel://\(replica)/main")) }
        #expect(other?.description.contains("is not a Sentinel") == true, "\(other as Any)")
    }

    @Test(arguments: [("-subscribe", "+subscribe"), ("resetchannels", "&+switch-master"), ("-sentinel|master", "+sentinel|master")])
    func `a user who lacks a right at the Sentinels is told so at once`(change: String, right: String) async throws {
        let sentinels = try await RedisSentinels.start(downAfter: .seconds(60))
        for index in 0..<3 { try await sentinels.command(index, "ACL", "SETUSER", "default", change) }
        let error = await failure { try await RedisConnection.connect(Self.configuration(sentinels.url)) }
        #expect(
            error?.kind == .notPermitted && error?.description.hasPrefix("\(right) is missing in the ACL rule") == true, "\(error as Any)")
    }

    @Test func `a Sentinel with a password gets the one of the address`() async throws {
        let sentinels = try await RedisSentinels.start(downAfter: .seconds(60))
        for index in 0..<3 { try await sentinels.command(index, "CONFIG", "SET", "requirepass", "s3cret") }
        try await sentinels.primary.ask("CONFIG", "SET", "requirepass", "s3cret")
        let without = await failure { try await RedisConnection.connect(Self.configuration(sentinels.url)) }
        #expect(without?.kind == .authenticationRequired, "\(without as Any)")
        let url = sentinels.url.replacing("://", with: "://:s3cret@")
        let connection = try await RedisConnection.connect(Self.configuration(url))
        try await connection.send(RedisCommand("SET", "key", "value"))
        await connection.close()
        let wrong = await failure { try await RedisConnection.connect(Self.configuration(url.replacing("s3cret", with: "0ther"))) }
        #expect(wrong?.description.contains("0ther") == false, "\(wrong as Any)")
    }
}
