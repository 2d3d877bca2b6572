import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(1))) struct TLSTests {
    @Test(
        "A certificate that its own authority does not vouch for is no trusted connection",
        arguments: [
            ("IP:127.0.0.1", true, true), ("IP:127.0.0.1", false, false), ("IP:127.0.0.2", true, false), ("DNS:example.com", true, false),
        ])
    func trust(name: String, usesFile: Bool, succeeds: Bool) async throws {
        let files = try TemporaryFolder()
        let server = try TLSOrigin(for: name, in: files)
        let fixture = try EngineFixture {
            $0.caFile = usesFile ? server.certificate : nil
        } script: {
            $0.answer()
        }
        let url = "https://127.0.0.1:\(server.port)/"
        if succeeds {
            #expect(try await fixture.get(url: url).status == 200)
        } else {
            let error = try await fixture.failure(url: url)
            #expect(error.kind == .tls)
            #expect(!error.isRetryable)
        }
    }
}
