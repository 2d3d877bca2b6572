import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct AuthenticationTests {
    private func secured() async throws -> RedisServer {
        try await RedisServer.start(.init { $0.arguments = ["--requirepass", "s3cret-password"] })
    }

    private func credentials(_ password: String, user: String? = nil) -> RedisCredentials {
        RedisCredentials(user: user, password: .value(RedisSecret(password)))
    }

    @Test func `the right password is accepted, a wrong or missing one is an error`() async throws {
        let server = try await secured()
        let right = try await server.connect { $0.credentials = credentials("s3cret-password") }
        #expect(try await right.send(RedisCommand("PING")) == .status("PONG"))
        await right.close()
        let wrong = await refusal(server.configuration.with { $0.credentials = credentials("wr0ng-password") })
        #expect(wrong?.kind == .authenticationFailed)
        let missing = await refusal(server.configuration)
        #expect(missing?.kind == .authenticationRequired)
        for error in [wrong, missing] {
            #expect(error?.description.contains("password file") == true)
            #expect(error.map { "\($0.detail)\($0)".contains("password'") || "\($0)".contains("wr0ng") } == false)
        }
    }

    @Test func `a server that asks for no password takes any`() async throws {
        let server = try await RedisServer.shared
        #expect(await refusal(server.configuration.with { $0.credentials = credentials("whatever") }) == nil)
    }

    @Test func `a rotated password file is read at the next connect`() async throws {
        let server = try await secured()
        let folder = try TemporaryFolder()
        let path = try folder.write("s3cret-password\n".utf8, to: "password")
        let connection = try await server.connect { $0.credentials = RedisCredentials(password: .file(path: path)) }
        try await connection.send(RedisCommand("CONFIG", "SET", "requirepass", "rotated"))
        try folder.write("rotated\n".utf8, to: "password")
        try await connection.send(RedisCommand("CLIENT", "KILL", "SKIPME", "no"))
        try await eventually("a command is answered again") { await failure { try await connection.send(RedisCommand("PING")) } == nil }
        await connection.close()
    }

    @Test func `commands that wait name a password that was changed at run time`() async throws {
        let server = try await secured()
        let connection = try await server.connect {
            $0.credentials = credentials("s3cret-password")
            $0.commandTimeout = .milliseconds(300)
        }
        try await connection.send(RedisCommand("CONFIG", "SET", "requirepass", "changed"))
        _ = await failure { try await connection.send(RedisCommand("CLIENT", "KILL", "SKIPME", "no")) }
        try await eventually("the error names the password file and not the password") {
            guard let error = await failure({ try await connection.send(RedisCommand("PING")) }) else { return false }
            return error.kind == .unavailable && error.description.contains("password file")
                && !error.description.contains("s3cret")
        }
        await connection.close()
    }

    @Test func `a user may do what its rules permit, and an error names what it lacks`() async throws {
        let server = try await RedisServer.start()
        let admin = try await server.connect()
        let rules: [RedisArgument] = ["on", ">user-password", "~*", "&ours*", "+@all", "-eval", "-set"]
        try await admin.send(RedisCommand(["ACL", "SETUSER", "worker"] + rules))
        let worker = try await server.connect { $0.credentials = credentials("user-password", user: "worker") }
        #expect(try await worker.send(RedisCommand("GET", "key")) == .null)
        let script = RedisScript("return 'not permitted to load me'")
        for error in [
            await failure { try await worker.run(script, keys: []) },
            await failure { try await worker.send(RedisCommand("SET", "key", "value")) },
        ] {
            #expect(error?.kind == .notPermitted)
            #expect(error?.description.contains("ACL") == true)
        }
        // A script that the server knows needs no EVAL.
        try await admin.run(script, keys: [])
        #expect(try await worker.run(script, keys: []) == .bytes(Array("not permitted to load me".utf8)))
        await worker.close()

        let listener = try await RedisSubscriber.connect(
            server.configuration.with { $0.credentials = credentials("user-password", user: "worker") })
        _ = try await listener.subscribe(to: ["ours"])
        #expect(await failure { try await listener.subscribe(to: ["theirs"]) }?.kind == .notPermitted)
        await listener.close()
        await admin.close()
    }

    @Test func `a user who may not PING, SELECT or use a database that is not there`() async throws {
        let server = try await RedisServer.start()
        try await server.command("ACL", "SETUSER", "mute", "on", ">user-password", "~*", "+get")
        let mute = server.configuration.with { $0.credentials = credentials("user-password", user: "mute") }
        #expect(await refusal(mute) == nil)
        #expect(await refusal(mute.with { $0.database = 1 })?.kind == .notPermitted)
        let absent = await refusal(server.configuration.with { $0.database = 999 })
        #expect(absent?.kind == .invalidConfiguration)
        #expect(absent?.description.contains("999") == true)
    }

    @Test func `a password file that cannot be read stops the first connect`() async throws {
        let server = try await RedisServer.shared
        let missing = server.configuration.with { $0.credentials = RedisCredentials(password: .file(path: "/none/password")) }
        #expect(await refusal(missing)?.kind == .invalidConfiguration)
    }
}
