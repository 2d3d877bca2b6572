import GannetTestKit
import HTTPEngine
import Testing

@testable import HTTPService

/// Asked by the real engine.
@Suite(.timeLimit(.minutes(1))) struct HTTPServiceTests {
    private func engine() throws -> CurlDownloader {
        var options = FetchSettings()
        options.allowedNetworks = ["all"]
        return try CurlDownloader(options)
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func `it answers by its function, many at a time`(address: String) async throws {
        let service = try HTTPService(address: address, port: 0) { request in
            request.path == "/none" ? HTTPServiceAnswer(status: 404) : HTTPServiceAnswer("you asked for \(request.path)")
        }
        let host = address.contains(":") ? "[\(address)]" : address
        let engine = try engine()
        let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<50 {
                group.addTask {
                    let url = "http://\(host):\(service.port)/\(number)?query"
                    let request = DownloadRequest(url: url, body: .memory(upTo: 1000, thenFileIn: "/"))
                    guard case .bytes(let bytes) = try await engine.download(request).body else { throw KitError("not in memory") }
                    return bytes
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert(String(decoding: $1, as: UTF8.self)) }
        }
        #expect(bodies == Set((0..<50).map { "you asked for /\($0)" }))
        let missing = await #expect(throws: FetchError.self) {
            try await engine.download(
                DownloadRequest(url: "http://\(host):\(service.port)/none", body: .memory(upTo: 1000, thenFileIn: "/")))
        }
        #expect(missing?.kind == .status(404))
        engine.shutdown()
        service.stop()
        service.stop()
    }

    @Test func `an address that holds connections open takes no more than its share from other addresses`() async throws {
        let service = try HTTPService(address: "0.0.0.0", port: 0, connections: 8, each: 4) { _ in HTTPServiceAnswer("here") }
        // Shorter than the time after which the idle ones are let go.
        let script = """
            for descriptor in {10..17}; do eval "exec $descriptor<>/dev/tcp/127.0.0.1/$0"; done
            curl --silent --max-time 5 --interface 127.0.0.2 "http://127.0.0.1:$0/"
            """
        let outcome = try await ChildProcess.run(
            .init("/usr/bin/env", ["bash", "-c", script, "\(service.port)"], environment: ["PATH": "/usr/bin:/bin"]))
        #expect(outcome.output == "here")
        service.stop()
    }

    @Test func `an address that is none, or not free, is said to be so`() throws {
        #expect(throws: HTTPServiceFailure.self) { try HTTPService(address: "nowhere", port: 0) { _ in HTTPServiceAnswer() } }
        let first = try HTTPService(address: "127.0.0.1", port: 0) { _ in HTTPServiceAnswer() }
        let failure = #expect(throws: HTTPServiceFailure.self) {
            try HTTPService(address: "127.0.0.1", port: first.port) { _ in HTTPServiceAnswer() }
        }
        #expect(failure?.description.hasPrefix("Cannot listen on 127.0.0.1 port \(first.port): ") == true)
        first.stop()
    }
}
