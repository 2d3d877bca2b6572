import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct TLSTests {
    @Test(
        "Without a certificate of a trusted authority, for this host and today, there is no trusted connection",
        arguments: [
            (\.good, true, true), (\.good, false, false), (\.wrongHost, true, false), (\.expired, true, false),
            (\.selfSigned, true, false),
        ] as [(any KeyPath<Certificates, Certificates.Certificate> & Sendable, Bool, Bool)])
    func trust(
        certificate: any KeyPath<Certificates, Certificates.Certificate> & Sendable, trustsAuthority: Bool, succeeds: Bool
    ) async throws {
        let certificates = try await Certificates.shared
        let server = try await Origin.start(.init { $0.certificate = certificates[keyPath: certificate] })
        let fixture = try EngineFixture {
            $0.caFile = trustsAuthority ? certificates.authority : nil
        } script: {
            $0.answer()
        }
        let url = "https://127.0.0.1:\(try #require(server.tlsPort))/1.bin"
        if succeeds {
            #expect(try await fixture.get(url: url).byteCount == 1)
        } else {
            let error = try await fixture.failure(url: url)
            #expect(error.kind == .tls)
            #expect(!error.isRetryable)
        }
        try await server.stop()
    }

    @Test("A new connection takes up the TLS session of an earlier one")
    func resumption() async throws {
        let certificates = try await Certificates.shared
        let server = try await Origin.start(
            .init {
                $0.certificate = certificates.good
                // HTTP/2 would use one connection for all of them.
                $0.offersHTTP2 = false
                // Each answer ends its connection, and says whether the session was an earlier one's.
                $0.directives = """
                    keepalive_timeout 0; ssl_session_cache shared:sessions:1m;
                    location = /session { return 200 $ssl_session_reused; }
                    """
            })
        let fixture = try EngineFixture {
            $0.caFile = certificates.authority
        } script: {
            $0.answer()
        }
        let url = "https://127.0.0.1:\(try #require(server.tlsPort))/session"
        var answers: [String] = []
        for _ in 0..<3 {
            answers.append(String(decoding: try fixture.contents(try await fixture.get(url: url)), as: UTF8.self))
        }
        #expect(answers == [".", "r", "r"])
        try await server.stop()
    }
}
