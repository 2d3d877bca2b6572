import GannetTestKit
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(1))) struct TLSTests {
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
}
