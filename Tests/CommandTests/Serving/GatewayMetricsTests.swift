import Foundation
import GannetTestKit
import Testing

/// `/metrics` of `gannet serve`.
@Suite(.timeLimit(.minutes(2))) struct GatewayMetricsTests {
    private static let token = "0123456789abcdef-one"

    private static func metrics(_ gateway: Gateway, _ words: [String] = []) async throws -> [String: Double] {
        let page = try await gateway.ask("/metrics", words)
        #expect(page.status == 200 && page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = page.body.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            uniqueKeysWithValues: try lines.map { line in
                let space = try #require(line.lastIndex(of: " "))
                return (String(line[..<space]), try #require(Double(line[line.index(after: space)...])))
            })
    }

    private static func answered(_ endpoint: String, _ statusClass: Int, _ method: String = "GET") -> String {
        "gannet_gateway_requests_total{endpoint=\"\(endpoint)\",method=\"\(method)\",status=\"\(statusClass)xx\"}"
    }

    @Test func `figures tell answers, failures and refusals apart`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway(["--memory", "1MB"])
        let first = try await Self.metrics(gateway)
        #expect(first[Self.answered("/v1/fetch", 2)] == 0 && first[Self.answered("/v1/jobs", 5, "POST")] == 0)
        #expect(first["gannet_gateway_failures_total{class=\"timeout\"}"] == 0)
        let url = fleet.origin.urls[0]
        let size = try await gateway.fetch(url).body.utf8.count
        _ = try await gateway.fetch(url)
        #expect(try await gateway.fetch("http://127.0.0.1:\(fleet.origin.port)/none").status == 404)
        #expect(try await gateway.fetch(url, ["-H", "Host: evil.example"]).status == 421)
        #expect(try await gateway.fetch(url, ["-H", "Origin: http://evil.example"]).status == 403)
        #expect(try await gateway.ask("/nowhere/\(url)").status == 404)
        let figures = try await Self.metrics(gateway)
        #expect(figures[Self.answered("/v1/fetch", 2)] == 2 && figures[Self.answered("/v1/fetch", 4)] == 3)
        #expect(figures[Self.answered("none", 4, "none")] == 1)
        // A page shows the state before its own answer.
        #expect(figures[Self.answered("/metrics", 2)] == 1)
        #expect(figures["gannet_gateway_answers_total{source=\"origin\"}"] == 1)
        #expect(figures["gannet_gateway_answers_total{source=\"memory\"}"] == 1)
        #expect(figures["gannet_gateway_fetches_total{source=\"origin\"}"] == 1)
        #expect(figures["gannet_gateway_failures_total{class=\"http-4xx\"}"] == 1)
        #expect(figures["gannet_gateway_refused_total{rule=\"host\"}"] == 1)
        #expect(figures["gannet_gateway_refused_total{rule=\"origin\"}"] == 1)
        #expect(try #require(figures["gannet_gateway_memory_bytes"]) >= Double(size))
        #expect(figures["gannet_gateway_memory_entries"] == 1 && figures["gannet_gateway_memory_limit_bytes"] == 1_000_000)
        #expect(figures["gannet_gateway_fetched_bytes_total"] == Double(size))
        #expect(try #require(figures["gannet_gateway_sent_bytes_total"]) > Double(2 * size))
        // The request for the page itself.
        #expect(figures["gannet_gateway_in_flight"] == 1)
        #expect(figures["gannet_gateway_departed_total"] == 0)
        #expect(!figures.keys.contains { $0.contains("nowhere") || $0.contains("evil") || $0.contains("127.0.0.1") })
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `an answer that another gateway has fetched comes from Redis`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateways = [try await fleet.gateway(), try await fleet.gateway()]
        for gateway in gateways { #expect(try await gateway.fetch(fleet.origin.urls[0]).status == 200) }
        #expect(try await Self.metrics(gateways[0])["gannet_gateway_answers_total{source=\"origin\"}"] == 1)
        #expect(try await Self.metrics(gateways[1])["gannet_gateway_answers_total{source=\"redis\"}"] == 1)
        for gateway in gateways { try await gateway.stop() }
        try await fleet.stop()
    }

    @Test func `a client that leaves before its answer is no answer and no failure`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let silent = try HostileServer(scripts: [[.silence]])
        let client = try RawClient(port: gateway.port)
        try await client.send("GET /v1/fetch?url=http://127.0.0.1:\(silent.port)/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try await silent.accepted(1)
        client.leave()
        try await silent.ended(1)
        try await eventually("the client has left") { try await Self.metrics(gateway)["gannet_gateway_departed_total"] == 1 }
        let figures = try await Self.metrics(gateway)
        #expect(figures[Self.answered("/v1/fetch", 5)] == 0)
        #expect(figures.filter { $0.key.hasPrefix("gannet_gateway_failures_total") }.values.allSatisfy { $0 == 0 })
        try await silent.stop()
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `figures take a token where other paths do, and the check of health takes none`() async throws {
        let fleet = try await Fleet.start(files: 1)
        try fleet.folder.write(Array("\(Self.token) name=secretary at-once=1\n".utf8), to: "tokens")
        let gateway = try await fleet.gateway(["--token-file", fleet.folder.file("tokens")])
        #expect(try await gateway.ask("/metrics").status == 401)
        let health = try await gateway.ask("/healthz")
        #expect(health.status == 200 && health.body == "ok\n")
        let page = try await gateway.ask("/metrics", ["-H", "Authorization: Bearer \(Self.token)"]).body
        #expect(page.contains("gannet_gateway_refused_total{rule=\"token\"} 1\n"))
        #expect(!page.contains("secretary"))
        let address = String(gateway.url.dropFirst("http://".count))
        #expect(try await fleet.outcome(["health", "--listen", address]).status == 0)
        try await gateway.stop()
        #expect(try await fleet.outcome(["health", "--listen", address]).status == 69)
        try await fleet.stop()
    }

    @Test func `a full Redis serves what it has, refuses the rest, and is no Redis that is away`() async throws {
        let fleet = try await Fleet.start(.setUp) { options in
            options.fileCount = 3
            // A body without bytes needs no room, so it stays.
            options.directives = "location = /kept { add_header Cache-Control max-age=600; return 200; }"
        }
        let (one, other) = (try await fleet.gateway(["--memory", "0"]), try await fleet.gateway(["--memory", "0"]))
        #expect(try await one.fetch(fleet.origin.url("/kept")).status == 200)
        try await fleet.redis.command("CONFIG", "SET", "maxmemory", "1")
        for url in fleet.origin.urls { #expect(try await one.fetch(url).status == 200) }
        for gateway in [one, other] {
            let kept = try await gateway.fetch(fleet.origin.url("/kept"))
            #expect(kept.status == 200 && kept.headers["cache-status"]?.hasSuffix("detail=shared") == true, "\(kept.headers)")
        }
        #expect(try await fleet.origin.requests().count == 4)
        let values = try await Self.metrics(one)
        // The first file has no bytes.
        #expect(
            values["gannet_gateway_redis_refused_total"] == 2 && values["gannet_gateway_redis_unavailable_total"] == 0,
            "\(values.filter { $0.key.contains("redis") })")
        #expect(one.process.errors.lines.filter { $0.contains("Redis is full") && $0.contains("maxmemory") }.count == 1)
        for gateway in [one, other] { try await gateway.stop() }
        try await fleet.stop()
    }
}
