import GannetTestKit
import Testing

@testable import GannetRedisClient

/// Servers that are no Redis, no longer one, or not one to rely on.
@Suite(.timeLimit(.minutes(3))) struct StrangerTests {
    struct Case: Sendable {
        let name: String
        let script: [HostileServer.Step]
        let kind: RedisError.Kind
        let words: String
    }

    static let cases = [
        Case(
            name: "Redis 5, which quotes the password back",
            script: [
                .readUntil("PING"),
                .send("-ERR unknown command `HELLO`, with args beginning with: `2`, `AUTH`, `default`, `s3cret-password`, \r\n+PONG\r\n"),
                .silence,
            ], kind: .tooOld, words: "Use Redis 6.2 or newer"),
        Case(
            name: "Redis 6.0", script: [.readUntil("PING"), .send("*2\r\n$7\r\nversion\r\n$6\r\n6.0.16\r\n+PONG\r\n"), .silence],
            kind: .tooOld, words: "it is 6.0"),
        Case(
            name: "quotes", script: [.readUntil("PING"), .send("-ERR what is s3cret-password\r\n"), .silence], kind: .other, words: "•••"),
        Case(
            name: "a web server", script: [.readUntil("PING"), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close], kind: .notRedis,
            words: "does not speak"),
        Case(name: "SSH", script: [.send("SSH-2.0-OpenSSH_9.2\r\n"), .silence], kind: .notRedis, words: "Check host and port"),
        Case(name: "mail", script: [.send("220 mail.example ESMTP\r\n"), .silence], kind: .notRedis, words: "does not speak"),
        Case(name: "POP3", script: [.send("+OK POP3 ready\r\n"), .silence], kind: .notRedis, words: "HELLO"),
        Case(name: "TLS", script: [.readUntil("PING"), .send([0x15, 3, 1, 0, 2, 2, 70]), .close], kind: .notRedis, words: "rediss://"),
        Case(name: "no version", script: [.readUntil("PING"), .send("*0\r\n+PONG\r\n"), .silence], kind: .notRedis, words: "version"),
        Case(
            name: "talks too much", script: [.readUntil("PING"), .send(greetingReply + greetingReply), .silence], kind: .connectionLost,
            words: ""),
        Case(name: "leaves at once", script: [.close], kind: .unreachable, words: "rediss://"),
        Case(name: "resets", script: [.readUntil("PING"), .reset], kind: .unreachable, words: "rediss://"),
        Case(
            name: "leaves in mid-reply", script: [.readUntil("PING"), .send("*4\r\n$6\r\nser"), .close], kind: .unreachable, words: "closed"
        ),
        Case(name: "silent", script: [.silence], kind: .connectTimeout, words: "greeting"),
        Case(name: "stops in mid-reply", script: [.send("*4\r\n$6\r\nser"), .silence], kind: .connectTimeout, words: "greeting"),
    ]

    @Test(arguments: cases) func `each kind of stranger has its own error`(stranger: Case) async throws {
        let server = try HostileServer(scripts: [stranger.script])
        let error = await refusal(
            server.configuration.with {
                $0.connectTimeout = stranger.kind == .connectTimeout ? .milliseconds(100) : .seconds(10)
                $0.credentials = RedisCredentials(password: .value("s3cret-password"))
            })
        // Two greetings are read together or not: the second is a surprise either to the greeting or to the commands.
        if stranger.name == "talks too much" { return #expect(error == nil || error?.kind == .connectionLost) }
        #expect(error?.kind == stranger.kind, "\(stranger.name): \(error.map { "\($0)" } ?? "none")")
        #expect(error?.description.contains(stranger.words) == true, "\(stranger.name): \(error.map { "\($0)" } ?? "none")")
        #expect(error.map { "\($0)\($0.detail)".contains("s3cret") } == false)
        try await server.stop()
    }

    private static let good: [HostileServer.Step] = [.readUntil("PING\r\n"), .send(greetingReply), .silence]

    @Test(
        arguments: [[.close], [.readUntil("PING\r\n"), .close], [.readUntil("PING\r\n"), .reset], [.send(helloReply), .close]]
            as [[HostileServer.Step]])
    func `a server that closes its first connections is tried again`(script: [HostileServer.Step]) async throws {
        let server = try HostileServer(scripts: [script, script, Self.good])
        await (try RedisConnection.connect(server.configuration)).close()
        #expect(server.connections == 3)
        try await server.stop()
    }

    @Test func `a server that closes every connection without a word is tried three times, and may be one with TLS`() async throws {
        let server = try HostileServer(.readUntil("PING\r\n"), .close)
        let error = await refusal(server.configuration)
        #expect(error?.detail == "it closed 3 connections without an answer; a TLS port needs rediss://")
        #expect(server.connections == 3)
        try await server.stop()
    }

    @Test func `TLS is named only where it can be the reason that connections are closed`() async throws {
        // A server that has begun to answer has no TLS.
        let rude = try HostileServer(scripts: [[.send("*4\r\n"), .close], [.close]])
        let cut = await refusal(rude.configuration)
        #expect(cut?.detail == "it closed the connection before its greeting was complete")
        try await rude.stop()
        let folder = try TemporaryFolder()
        let local = try HostileServer(unixSocket: folder.file("s"), scripts: [[.close]])
        let unix = await refusal(.quick(.unix(path: folder.file("s"))))
        #expect(unix?.detail == "it closed the connection before its greeting was complete")
        try await local.stop()
        let banner = try HostileServer(.send("SSH-2.0-OpenSSH_9.2\r\n"), .silence)
        #expect(await refusal(banner.configuration)?.description.contains("rediss://") == false)
        try await banner.stop()
    }

    @Test func `a server that has served once is not taken for one with TLS when it closes connections`() async throws {
        let server = try HostileServer(scripts: [
            [.readUntil("PING\r\n"), .send(greetingReply), .readUntil("FIRST"), .close], [.readUntil("PING\r\n"), .close],
        ])
        let connection = try await RedisConnection.connect(server.configuration.with { $0.commandTimeout = .milliseconds(300) })
        _ = await failure { try await connection.send(RedisCommand("FIRST")) }
        try await server.accepted(5)
        let error = await failure { try await connection.send(RedisCommand("SECOND")) }
        #expect(error?.kind == .unavailable)
        #expect(error?.detail.contains("it closed the connection before its greeting was complete") == true, "\(String(describing: error))")
        await connection.close()
        try await server.stop()
    }

    @Test func `no error of an established connection quotes the password`() async throws {
        let server = try HostileServer(
            .readUntil("PING\r\n"), .send(greetingReply), .readUntil("GET"),
            .send("*1\r\n-ERR AUTH s3cret-password\r\n-ERR hello s3cret-pass\r\n"), .silence)
        let connection = try await RedisConnection.connect(
            server.configuration.with { $0.credentials = RedisCredentials(password: .value("s3cret-password")) })
        let results = await connection.pipeline([RedisCommand("GET"), RedisCommand("GET")])
        for result in results { #expect(!"\(result)".contains("s3cret"), "\(result)") }
        guard case .success(.array(let elements))? = results.first, case .error(let error)? = elements.first else {
            return #expect(Bool(false))
        }
        #expect(!error.server.isEmpty)
        await connection.close()
    }

    @Test(arguments: ["$10\r\nabc", "*2\r\n:1\r\n", "*2147483647\r\n:1\r\n", "!?\r\n", "+unasked\r\n+unasked\r\n"])
    func `an incomplete or malformed reply is a lost connection, and the next connection works`(reply: String) async throws {
        let good: [HostileServer.Step] = [.readUntil("PING\r\n"), .send(greetingReply)]
        let server = try HostileServer(scripts: [
            good + [.readUntil("FIRST"), .send(reply), .close], good + [.readUntil("SECOND"), .send("+fresh\r\n"), .silence],
        ])
        let connection = try await RedisConnection.connect(server.configuration)
        let error = await failure { try await connection.send(RedisCommand("FIRST")) }
        if !reply.hasPrefix("+") {
            #expect(error?.kind == .connectionLost)
            #expect(error?.mayHaveExecuted == true)
        }
        try await server.accepted(2)
        #expect(try await connection.send(RedisCommand("SECOND")) == .status("fresh"))
        await connection.close()
    }

    @Test func `a reply beyond the limit ends the connection, not the process`() async throws {
        let good: [HostileServer.Step] = [.readUntil("PING\r\n"), .send(greetingReply)]
        let flood = [UInt8](repeating: 65, count: 1 << 20)
        let server = try HostileServer(scripts: [
            good + [.readUntil("BIG"), .send("$536870912\r\n")] + Array(repeating: .send(flood), count: 8) + [.silence],
            good + [.readUntil("SMALL"), .send("+fresh\r\n"), .silence],
        ])
        let connection = try await RedisConnection.connect(server.configuration.with { $0.maximumReplyBytes = 2 << 20 })
        let error = await failure { try await connection.send(RedisCommand("BIG")) }
        #expect(error?.kind == .replyTooLarge)
        #expect(error?.mayHaveExecuted == true)
        #expect(try await connection.send(RedisCommand("SMALL")) == .status("fresh"))
        await connection.close()
    }

    @Test(arguments: [
        "*2147483647\r\n" + String(repeating: ":1\r\n", count: 300_000), "$500000000\r\n" + String(repeating: "x", count: 1 << 20),
    ])
    func `a greeting without an end is cut off`(greeting: String) async throws {
        let server = try HostileServer(.readUntil("PING\r\n"), .send(greeting), .silence)
        let error = await failure { _ = try await RedisConnection.connect(server.configuration) }
        #expect(error?.kind == .notRedis)
        #expect(error?.description.contains("its greeting has no end") == true)
        try await server.stop()
    }

    @Test func `a deaf server costs a bounded backlog and a timeout`() async throws {
        let server = try HostileServer(.readUntil("PING\r\n"), .send(greetingReply), .deafness)
        let connection = try await RedisConnection.connect(
            server.configuration.with {
                $0.maximumBacklogBytes = 8 << 20
                $0.commandTimeout = .milliseconds(500)
            })
        let body = RedisArgument.bytes([UInt8](repeating: 1, count: 1 << 20))
        let kinds = await withTaskGroup(of: RedisError.Kind?.self) { group in
            for _ in 0..<64 { group.addTask { await failure { try await connection.send(RedisCommand("SET", "key", body)) }?.kind } }
            return await group.reduce(into: [RedisError.Kind?: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(kinds[.backlogFull, default: 0] > 30)
        #expect(kinds[nil] == nil)
        await connection.close()
        try await server.stop()
    }
}
