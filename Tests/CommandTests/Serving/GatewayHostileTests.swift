import Foundation
import GannetTestKit
import Testing

/// `gannet serve` and clients that send what no client should. `Scripts/check pressure` has clients that send too much.
@Suite(.timeLimit(.minutes(2))) struct GatewayHostileTests {
    private static let host = "Host: 127.0.0.1\r\n"

    /// Targets that try to leave their folder, or to look like another path.
    private static let targets = [
        "/v1/../v1/status", "//v1/status", "/v1/status/", "/v1/./status", "/v1/%2e%2e/metrics", "/v1%2Fstatus",
        "/v1/batches/..%2F..%2Fetc%2Fpasswd",
        "/v1/batches/%00", "/v1/status%00", "/v1/status?queue=%00", "/v1/status?queue=../x", "/../../etc/passwd", "/v1\\status",
        "/V1/status",
        "/v1/status;a=b", "/v1/batches/%ff", "http://127.0.0.1/v1/status", "*", "v1/status",
    ]

    /// Heads that are broken, or that a proxy may read otherwise.
    private static let heads = [
        "GET\r\n\r\n", "GET /v1/status\r\n\r\n", "GET /v1/status HTTP/9.9\r\n\(host)\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "G\u{0}T /v1/status HTTP/1.1\r\n\(host)Connection: close\r\n\r\n", "GET /v1/status HTTP/1.1\r\n: nothing\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999999\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\n\(host)Content-Length: 1, 2\r\n\r\na",
        "POST /v1/jobs HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nnone\r\n",
        "POST /v1/jobs HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "GET /v1/status HTTP/1.1\r\n\(host)A: b\u{1}c\r\n\r\n", "GET /v1/status\u{0} HTTP/1.1\r\n\(host)Connection: close\r\n\r\n",
        "GET /v1/status HTTP/1.1\r\n\(host)" + (0..<4000).map { "A\($0): b\r\n" }.joined() + "\r\n",
        "GET /v1/status HTTP/1.1\r\n\(host)A: \(String(repeating: "a", count: 100_000))\r\n\r\n",
    ]

    private func status(_ request: String, of gateway: Gateway) async throws -> Int? {
        let client = try RawClient(port: gateway.port)
        // The gateway may have closed the connection before all is sent.
        _ = try? await client.send(request)
        let words = String(decoding: (try? await client.receive()) ?? [], as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }

    @Test func `tricks with paths reach nothing, and broken heads end their connection`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        for target in Self.targets {
            let answer = try await status("GET \(target) HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n", of: gateway)
            #expect(answer.map { 400..<500 ~= $0 } ?? true, "\(target): \(answer ?? 0)")
        }
        for head in Self.heads {
            let answer = try await status(head, of: gateway)
            #expect(answer.map { 400..<600 ~= $0 } ?? true, "\(head.prefix(80)): \(answer ?? 0)")
        }
        #expect(try await gateway.ask("/v1/status").status == 200)
        #expect(try await gateway.ask("/v1/jobs?state=ready").json()["jobs"] as? [String] == [])
        #expect(try await fleet.origin.requests().isEmpty)
        try await gateway.stop()
        try await fleet.stop()
    }

    /// Ends of chunks that libmicrohttpd reads, and a proxy perhaps not.
    @Test(arguments: ["3;x\nabc\r\n0\r\n\r\n", "1\r\na\n0\r\n\r\n", "1\r\na\r\n0\n\n"])
    func `a request behind a body in chunks is not answered`(chunks: String) async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let client = try RawClient(port: gateway.port)
        let head = "POST /v1/jobs HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
        _ = try? await client.send(head + chunks + "GET /v1/status HTTP/1.1\r\n\(Self.host)\r\n")
        let answers = String(decoding: try await client.receive(), as: UTF8.self)
        #expect(answers.ranges(of: "HTTP/1.1 ").count == 1 && answers.contains("Connection: close"), "\(answers)")
        try await gateway.stop()
        try await fleet.stop()
    }

    /// Heads that say twice, or unclearly, where their requests end.
    @Test(arguments: [
        "Content-Length: 0\r\nContent-Length: 40\r\n", "Content-Length: 40\r\nContent-Length: 0\r\n", "Content-Length : 40\r\n",
        "Content-Length: 40\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: gzip\r\n", "Host: another\r\n",
        "Content-Length:\r\n 40\r\n", "Content-Length: 4\r\n\t0\r\n", "X: a\r\n b\r\n", "Content-Length: 4\u{0}0\r\n",
        "X: a\u{0}b\r\nY: c\r\n",
        "Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding: chunked\u{0}x\r\n",
    ])
    func `a second request in the body of the first, as a proxy may read it, is not answered`(lines: String) async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let second = "GET /v1/fetch?url=\(fleet.origin.urls[0]) HTTP/1.1\r\n\(Self.host)\r\n"
        for (method, body) in [("POST", "0\r\n\r\n"), ("GET", "")] {
            #expect(try await status("\(method) /v1/jobs HTTP/1.1\r\n\(Self.host)\(lines)\r\n\(body)\(second)", of: gateway) == 400)
        }
        #expect(try await fleet.origin.requests().isEmpty)
        try await gateway.stop()
        try await fleet.stop()
    }
}
