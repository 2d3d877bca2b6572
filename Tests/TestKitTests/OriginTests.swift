import GannetTestKit
import Testing

@Suite struct OriginTests {
    private func curl(_ arguments: String...) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(.init("curl", ["--silent", "--show-error", "--noproxy", "*"] + arguments))
    }

    @Test func `every file has the size and the digest it was announced with`() async throws {
        let origin = try await Origin.start(.init { $0.fileCount = 12 })
        let folder = try TemporaryFolder()
        for file in origin.files {
            #expect(try await curl("-o", folder.file("body"), origin.url(file.path)).status == .exited(0))
            let digest = try await ChildProcess.succeed("openssl", ["dgst", "-sha256", "-r", folder.file("body")])
            #expect(digest.hasPrefix(file.sha256))
        }
        #expect(origin.files[0].size == 0)
        #expect(origin.files.contains { $0.size > 10_000 })
        #expect(try await origin.requests() == origin.files.map { .init(method: "GET", path: $0.path, status: 200) })
    }

    @Test func `requests go on to a server that misbehaves, are in no account, and end as it ends`() async throws {
        let origin = try await Origin.start(.init { $0.fileCount = 1 })
        let gate = try HostileServer(scripts: [
            [.readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhere"), .close], [.silence],
        ])
        let url = origin.url("/a", through: gate)
        let answer = try await curl(url)
        #expect(answer.status == .exited(0) && answer.output == "here")
        async let waiting = curl(url)
        try await gate.accepted(2)
        try await gate.stop()
        // It has no answer, and neither has one without a server.
        #expect(try await waiting.status == .exited(52))
        #expect(try await curl(url).status == .exited(52))
        #expect(try await origin.requests().isEmpty)
        try await origin.stop()
    }

    @Test func `the same seed makes the same files`() async throws {
        let first = try await Origin.start(.init { $0.fileCount = 4 })
        let second = try await Origin.start(.init { $0.fileCount = 4 })
        let other = try await Origin.start(
            .init {
                $0.fileCount = 4
                $0.seed = 2
            })
        #expect(first.files == second.files)
        #expect(first.files != other.files)
        #expect(first.port != second.port)
    }

    @Test func `requests are known with their method, query and status as soon as they are answered`() async throws {
        let origin = try await Origin.start(.init { $0.directives = "location = /moved { return 301 /0.bin; }" })
        #expect(try await origin.requests().isEmpty)
        for (path, status) in [("/0.bin?a=b%20c", 200), ("/missing", 404), ("/moved", 301)] {
            _ = try await curl("--head", origin.url(path))
            #expect(try await origin.requests().last == .init(method: "HEAD", path: path, status: status))
        }
    }

    @Test func `a stopped origin refuses connections and leaves no process of its group`() async throws {
        let origin = try await Origin.start()
        try await origin.stop()
        #expect(try await curl(origin.url("/0.bin")).status == .exited(7))
    }

    @Test func `certificates are good and bad as their names say`() async throws {
        let certificates = try await Certificates.shared
        for (certificate, status) in [
            (certificates.good, Int32(0)), (certificates.wrongHost, 60), (certificates.expired, 60), (certificates.selfSigned, 60),
        ] {
            let origin = try await Origin.start(.init { $0.certificate = certificate })
            let url = "https://localhost:\(origin.tlsPort!)/1.bin"
            #expect(try await curl("--cacert", certificates.authority, url).status == .exited(status))
            #expect(try await curl("--insecure", url).status == .exited(0))
        }
    }

    @Test func `a Redis server speaks TLS with such a certificate`() async throws {
        let certificates = try await Certificates.shared
        let server = try await RedisServer.start(.init { $0.tls = certificates.redisTLS(certificates.good) })
        let arguments = ["s_client", "-connect", "127.0.0.1:\(server.tlsPort!)", "-CAfile", certificates.authority, "-verify_return_error"]
        #expect(try await ChildProcess.run(.init("openssl", arguments)).status == .exited(0))
    }
}
