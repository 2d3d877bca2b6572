import GannetTestKit
import Testing

@testable import GannetRedisClient

/// Real servers that cannot serve, or not everything.
@Suite(.timeLimit(.minutes(3))) struct UnfitServerTests {
    private func says(_ error: RedisError?, _ kind: RedisError.Kind, _ words: String, _ place: SourceLocation = #_sourceLocation) {
        #expect(error?.kind == kind, "\(error.map { "\($0)" } ?? "no error")", sourceLocation: place)
        #expect(error?.description.contains(words) == true, sourceLocation: place)
    }

    @Test func `a server that is loading its data`() async throws {
        let server = try await RedisServer.start(.init { $0.arguments = ["--rdbcompression", "no"] })
        let filling = "for i = 1, 2000 do redis.call('SET', 'key:' .. i, string.rep('x', 1024)) end"
        try await server.command("EVAL", filling, "0")
        try await server.command("SAVE")
        let connection = try await server.connect { $0.commandTimeout = .milliseconds(300) }
        try await server.restart {
            $0.readiness = .listening
            $0.arguments = ["--key-load-delay", "2000", "--loading-process-events-interval-bytes", "1024"]
        }
        says(await refusal(server.configuration), .loading, "Try again")
        var last: RedisError?
        try await eventually("the server loads its data") {
            last = await failure { try await connection.send(RedisCommand("GET", "key:1")) }
            return last?.kind == .unavailable
        }
        says(last, .unavailable, "loading")
        try await server.kill9()
        await connection.close()
    }

    @Test func `a replica, which is left for the next server at the address`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        let number = try await connection.send(RedisCommand("CLIENT", "ID")).asInteger()
        try await server.command("REPLICAOF", "127.0.0.1", "1")
        says(await failure { try await connection.send(RedisCommand("SET", "key", "value")) }, .readOnly, "primary")
        try await server.command("REPLICAOF", "NO", "ONE")
        try await eventually("a write succeeds on another connection") {
            await failure { try await connection.send(RedisCommand("SET", "key", "value")) } == nil
        }
        #expect(try await connection.send(RedisCommand("CLIENT", "ID")).asInteger() > number)
        await connection.close()
    }

    @Test func `a script that writes to a replica makes the connection move on too`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        let number = try await connection.send(RedisCommand("CLIENT", "ID")).asInteger()
        try await server.command("REPLICAOF", "127.0.0.1", "1")
        let script = RedisScript("return redis.call('SET', KEYS[1], 'x')")
        says(await failure { try await connection.run(script, keys: ["key"]) }, .readOnly, "primary")
        try await server.command("REPLICAOF", "NO", "ONE")
        try await eventually("a script writes on another connection") {
            await failure { try await connection.run(script, keys: ["key"]) } == nil
        }
        #expect(try await connection.send(RedisCommand("CLIENT", "ID")).asInteger() > number)
        await connection.close()
    }

    @Test func `a replica without its primary that refuses stale data`() async throws {
        let server = try await RedisServer.start()
        let connection = try await server.connect()
        try await server.command("CONFIG", "SET", "replica-serve-stale-data", "no")
        try await server.command("REPLICAOF", "127.0.0.1", "1")
        says(await failure { try await connection.send(RedisCommand("GET", "key")) }, .replicaStale, "primary")
        says(await refusal(server.configuration), .readOnly, "primary")
        await connection.close()
    }

    @Test func `a full server`() async throws {
        let server = try await RedisServer.start(.init { $0.arguments = ["--maxmemory", "100kb", "--maxmemory-policy", "noeviction"] })
        let connection = try await server.connect()
        says(await failure { try await connection.send(RedisCommand("SET", "key", "value")) }, .outOfMemory, "maxmemory")
        let script = RedisScript("return redis.call('SET', KEYS[1], 'x')")
        says(await failure { try await connection.run(script, keys: ["key"]) }, .outOfMemory, "maxmemory")
        #expect(try await connection.send(RedisCommand("GET", "key")) == .null)
        await connection.close()
    }

    @Test func `a server that is busy with a script, until the script is killed`() async throws {
        let server = try await RedisServer.start(.init { $0.arguments = ["--busy-reply-threshold", "1"] })
        let connection = try await server.connect()
        let other = try await server.connect()
        async let endless = failure { try await other.send(RedisCommand("EVAL", "while true do end", 0)) }
        var busy: RedisError?
        try await eventually("the server is busy with the script") {
            busy = await failure { try await connection.send(RedisCommand("GET", "key")) }
            return busy != nil
        }
        says(busy, .busy, "SCRIPT KILL")
        says(await refusal(server.configuration), .busy, "SCRIPT KILL")
        try await connection.send(RedisCommand("SCRIPT", "KILL"))
        says(await endless, .scriptFailed, "killed")
        #expect(try await connection.send(RedisCommand("GET", "key")) == .null)
        await connection.close()
        await other.close()
    }

    @Test func `a server without a free connection`() async throws {
        let server = try await RedisServer.start(
            .init {
                $0.listensOnTCP = true
                $0.arguments = ["--maxclients", "1"]
            })
        let only = try await server.connect()
        for configuration in [server.configuration, .quick(.tcp(host: "127.0.0.1", port: Int(server.port!), tls: false))] {
            says(await refusal(configuration), .tooManyClients, "maxclients")
        }
        await only.close()
        try await eventually("a client may connect again") { await refusal(server.configuration) == nil }
    }

    @Test func `a key with another kind of value, and an unknown command`() async throws {
        let connection = try await RedisServer.shared.connect()
        try await connection.send(RedisCommand("SET", "unfit:text", "value"))
        says(await failure { try await connection.send(RedisCommand("LPUSH", "unfit:text", "x")) }, .wrongType, "another namespace")
        let error = await failure { try await connection.send(RedisCommand("NOSUCH", "secret-argument")) }
        says(error, .other, "unknown command")
        #expect(error?.description.contains("secret-argument") == false)
        says(await failure { try await connection.run(RedisScript("error('boo')"), keys: []) }, .scriptFailed, "report")
        says(await failure { try await connection.run(RedisScript("this is no Lua"), keys: []) }, .scriptFailed, "report")
        await connection.close()
    }

    @Test func `a node of a cluster that is not made yet, and another database than a cluster has`() async throws {
        let server = try await RedisServer.start(.init { $0.arguments = ["--cluster-enabled", "yes"] })
        let connection = try await server.connect { $0.commandTimeout = .milliseconds(200) }
        says(await failure { try await connection.send(RedisCommand("GET", "key")) }, .clusterDown, "promote a replica")
        says(await refusal(server.configuration.with { $0.database = 1 }), .clustered, "database 0")
        await connection.close()
    }

    @Test func `no server at all`() async throws {
        let folder = try TemporaryFolder()
        says(await refusal(.quick(.unix(path: folder.file("none")))), .unreachable, "No such file")
        says(await refusal(.quick(.unix(path: ""))), .unreachable, "Check the address")
        says(await refusal(.quick(.unix(path: String(repeating: "x", count: 200)))), .invalidConfiguration, "xxx")
        says(await refusal(.quick(.tcp(host: "127.0.0.1", port: 1, tls: false))), .unreachable, "refused")
        says(await refusal(.quick(.tcp(host: "no-such-host.invalid", port: 1, tls: false))), .unresolvable, "host name")
    }
}
