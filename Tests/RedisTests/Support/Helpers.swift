import GannetTestKit

@testable import GannetRedisClient

extension RedisServer {
    /// How to reach it on its Unix socket, with pauses between attempts that tests need not wait for.
    var configuration: RedisConfiguration { .quick(.unix(path: socketPath)) }

    func connect(_ change: (inout RedisConfiguration) -> Void = { _ in }) async throws -> RedisConnection {
        var configuration = configuration
        change(&configuration)
        return try await RedisConnection.connect(configuration)
    }
}

extension HostileServer {
    var configuration: RedisConfiguration { .quick(.tcp(host: "127.0.0.1", port: Int(port), tls: false)) }
}

extension RedisConfiguration {
    static func quick(_ address: RedisAddress) -> RedisConfiguration {
        var configuration = RedisConfiguration(address: address)
        configuration.shortestBackoff = .milliseconds(1)
        configuration.longestBackoff = .milliseconds(20)
        return configuration
    }

    func with(_ change: (inout RedisConfiguration) -> Void) -> RedisConfiguration {
        var copy = self
        change(&copy)
        return copy
    }
}

/// The error that `body` ends with.
func failure<Value>(_ body: () async throws -> Value) async -> RedisError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RedisError
    }
}

/// The error that connecting ends with.
func refusal(_ configuration: RedisConfiguration) async -> RedisError? {
    await failure { await (try RedisConnection.connect(configuration)).close() }
}

/// A suitable server's replies to the greeting, for scripted servers.
let helloReply = "*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n"
let greetingReply = helloReply + "+PONG\r\n"

extension RedisArgument {
    static func bytes(_ text: String) -> RedisArgument { .bytes(Array(text.utf8)) }
}
