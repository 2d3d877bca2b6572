import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct TLSTests {
    private func configuration(
        _ host: String, _ port: UInt16, authority: String?, serverName: String? = nil, tls: Bool = true
    ) -> RedisConfiguration {
        RedisConfiguration.quick(.tcp(host: host, port: Int(port), tls: tls))
            .with { $0.tls = RedisTLS(authorityFile: authority, serverName: serverName) }
    }

    private func server(_ certificate: KeyPath<Certificates, Certificates.Certificate>) async throws -> (RedisServer, Certificates) {
        let certificates = try await Certificates.shared
        let tls = certificates.redisTLS(certificates[keyPath: certificate])
        return (
            try await RedisServer.start(
                .init {
                    $0.tls = tls
                    $0.listensOnTCP = true
                }), certificates
        )
    }

    @Test func `a right certificate is accepted by address and by name, and commands pass`() async throws {
        let (server, certificates) = try await server(\.good)
        for host in ["127.0.0.1", "localhost"] {
            let connection = try await RedisConnection.connect(configuration(host, server.tlsPort!, authority: certificates.authority))
            let body = [UInt8](0...255) + [UInt8](repeating: 9, count: 300_000)
            try await connection.send(RedisCommand("SET", "key", .bytes(body)))
            #expect(try await connection.send(RedisCommand("GET", "key")) == .bytes(body))
            await connection.close()
        }
    }

    @Test(
        arguments: [
            (\Certificates.wrongHost, "mismatch"), (\.expired, "expired"), (\.selfSigned, "self"),
        ] as [(any KeyPath<Certificates, Certificates.Certificate> & Sendable, String)])
    func `a wrong certificate is refused with a reason`(
        certificate: any KeyPath<Certificates, Certificates.Certificate> & Sendable, words: String
    ) async throws {
        let (server, certificates) = try await server(certificate)
        for host in ["127.0.0.1", "localhost"] {
            let error = await refusal(configuration(host, server.tlsPort!, authority: certificates.authority))
            #expect(error?.kind == .tlsFailed)
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
            #expect(error?.description.contains("trusted authorities") == true)
        }
    }

    @Test func `only the name that was asked for is accepted`() async throws {
        let (server, certificates) = try await server(\.wrongHost)
        let authority = certificates.authority
        let named = configuration("127.0.0.1", server.tlsPort!, authority: authority, serverName: "wrong.example")
        #expect(await refusal(named) == nil)
        for (name, kind) in [("other.example", .tlsFailed), ("", .invalidConfiguration), ("a\0b", .invalidConfiguration)]
            as [(String, RedisError.Kind)]
        {
            let error = await refusal(configuration("127.0.0.1", server.tlsPort!, authority: authority, serverName: name))
            #expect(error?.kind == kind, "\(name)")
        }
    }

    @Test func `an authority that is not the system's must be named, and be readable`() async throws {
        let (server, _) = try await server(\.good)
        #expect(await refusal(configuration("localhost", server.tlsPort!, authority: nil))?.kind == .tlsFailed)
        for path in ["/none.pem", "/dev/null", "/"] {
            let error = await refusal(configuration("localhost", server.tlsPort!, authority: path))
            #expect(error?.kind == .tlsFailed)
            #expect(error?.description.contains(path) == true)
        }
    }

    @Test func `an address without TLS for a TLS port is named in the error`() async throws {
        let (server, _) = try await server(\.good)
        let error = await refusal(configuration("127.0.0.1", server.tlsPort!, authority: nil, tls: false))
        #expect(error?.kind == .notRedis || error?.kind == .unreachable)
        #expect(error?.description.contains("rediss://") == true, "\(String(describing: error))")
    }

    @Test func `an address with TLS for a plain port is named in the error`() async throws {
        let (server, _) = try await server(\.good)
        // Redis waits for a line's end that may or may not be among the random bytes of the handshake.
        let error = await refusal(configuration("127.0.0.1", server.port!, authority: nil).with { $0.connectTimeout = .milliseconds(300) })
        #expect(error?.kind == .tlsFailed || error?.kind == .connectTimeout)
        #expect(
            error?.description.contains("redis://") == true && error?.description.contains("TLS") == true, "\(String(describing: error))")
        let banner = try HostileServer(.send("SSH-2.0-OpenSSH_9.2\r\n"), .silence)
        let stranger = await refusal(configuration("127.0.0.1", banner.port, authority: nil))
        #expect(stranger?.kind == .tlsFailed)
        #expect(stranger?.description.contains("does not speak TLS") == true)
    }

    @Test(arguments: [[.close], [.read(5), .close], [.read(5), .reset]] as [[HostileServer.Step]])
    func `a server that leaves in the handshake is unreachable`(script: [HostileServer.Step]) async throws {
        let server = try HostileServer(scripts: [script])
        let error = await refusal(configuration("127.0.0.1", server.port, authority: nil))
        #expect(error?.kind == .unreachable, "\(String(describing: error))")
    }

    @Test func `an attempt to connect to a silent server ends in time`() async throws {
        let server = try HostileServer(.silence)
        let error = await refusal(configuration("127.0.0.1", server.port, authority: nil).with { $0.connectTimeout = .milliseconds(50) })
        #expect(error?.kind == .connectTimeout)
        #expect(error?.detail.contains("TLS") == true)
    }

    @Test func `a TLS connection is restored after a crash`() async throws {
        let (server, certificates) = try await server(\.good)
        let connection = try await RedisConnection.connect(configuration("localhost", server.tlsPort!, authority: certificates.authority))
        try await server.kill9()
        try await server.restart()
        try await eventually("a command is answered again") { await failure { try await connection.send(RedisCommand("PING")) } == nil }
        #expect(try await connection.send(RedisCommand("PING")) == .status("PONG"))
        await connection.close()
    }

    @Test func `ten megabytes go there and back unchanged`() async throws {
        let (server, certificates) = try await server(\.good)
        let connection = try await RedisConnection.connect(configuration("localhost", server.tlsPort!, authority: certificates.authority))
        let body = PayloadTests.tenMegabytes
        try await connection.send(RedisCommand("SET", "key", .bytes(body)))
        let same = try await connection.send(RedisCommand("GET", "key")) == .bytes(body)
        #expect(same)
        await connection.close()
    }
}
