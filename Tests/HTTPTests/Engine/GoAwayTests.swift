import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(3))) struct GoAwayTests {
    @Test(arguments: [1, 3, 10])
    func `A server that ends its HTTP/2 connections every few requests fails no transfer`(requests: Int) async throws {
        let certificates = try await Certificates.shared
        let server = try await Origin.start(
            .init {
                $0.certificate = certificates.good
                $0.directives = "keepalive_requests \(requests);"
            })
        let fixture = try EngineFixture {
            $0.caFile = certificates.authority
            $0.maximumInFlight = 64
        } script: {
            $0.answer()
        }
        let url = "https://127.0.0.1:\(try #require(server.tlsPort))/1.bin"
        let failures = await withTaskGroup(of: FetchError?.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    do throws(FetchError) {
                        _ = try await fixture.get(url: url)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: [FetchError]()) { failures, failure in if let failure { failures.append(failure) } }
        }
        #expect(failures == [])
        try await server.stop()
    }
}
