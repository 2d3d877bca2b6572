import Foundation
import GannetTestKit
import Testing

/// `gannet serve`: URLs that clients want now.
@Suite(.timeLimit(.minutes(2))) struct GatewayFetchTests {
    private static func start(
        _ directives: String = "", _ words: [String] = [], _ reason: OneServer? = nil
    ) async throws -> (Fleet, Gateway) {
        let fleet = try await Fleet.start(reason) { options in
            options.fileCount = 3
            options.directives = """
                location = /text { default_type text/html; add_header Cache-Control max-age=600; return 200 "0123456789"; }
                location = /old { add_header Cache-Control max-age=0; add_header ETag '"v1"'; if ($http_if_none_match = '"v1"') { return 304; } return 200 "old"; }
                location = /gone { return 410; }
                location = /forbidden { return 403; }
                location = /busy { add_header Retry-After 7 always; return 503; }
                \(directives)
                """
        }
        return (fleet, try await fleet.gateway(words))
    }

    @Test func `a body comes from its origin once, and then from memory`() async throws {
        let (fleet, gateway) = try await Self.start()
        let first = try await gateway.fetch(fleet.origin.url("/text"))
        #expect(first.status == 200 && first.body == "0123456789")
        #expect(first.headers["cache-status"]?.hasPrefix("gannet; fwd=miss; fwd-status=200; stored; ttl=") == true)
        let second = try await gateway.fetch(fleet.origin.url("/text"))
        #expect(second.body == "0123456789")
        #expect(second.headers["cache-status"]?.hasPrefix("gannet; hit; ttl=") == true)
        #expect(second.headers["age"] != nil && second.headers["etag"] == first.headers["etag"])
        #expect(try await fleet.origin.requests().count == 1)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a fetched page never runs in the server's origin`() async throws {
        let (fleet, gateway) = try await Self.start()
        let headers = try await gateway.fetch(fleet.origin.url("/text")).headers
        #expect(headers["content-type"] == "text/html")
        #expect(headers["content-security-policy"]?.hasPrefix("sandbox; default-src 'none'") == true)
        #expect(headers["x-content-type-options"] == "nosniff" && headers["content-disposition"] == "attachment")
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `conditions and ranges are answered from the kept body`() async throws {
        let (fleet, gateway) = try await Self.start()
        let url = fleet.origin.url("/text")
        let tag = try #require(try await gateway.fetch(url).headers["etag"])
        let same = try await gateway.fetch(url, ["-H", "If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.body.isEmpty && same.headers["content-type"] == nil)
        let part = try await gateway.fetch(url, ["-H", "Range: bytes=2-4"])
        #expect(part.status == 206 && part.body == "234" && part.headers["content-range"] == "bytes 2-4/10")
        let beyond = try await gateway.fetch(url, ["-H", "Range: bytes=10-"])
        #expect(beyond.status == 416 && beyond.headers["content-range"] == "bytes */10")
        let head = try await gateway.fetch(url, ["--head"])
        #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "10")
        #expect(try await gateway.fetch(url, ["--head", "-H", "Range: bytes=0-0"]).status == 200)
        #expect(try await fleet.origin.requests().count == 1)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a client's Cache-Control decides what it is served`() async throws {
        let (fleet, gateway) = try await Self.start()
        let url = fleet.origin.url("/text")
        let missing = try await gateway.fetch(url, ["-H", "Cache-Control: only-if-cached"])
        #expect(try missing.status == 504 && missing.json()["class"] as? String == "not-kept")
        #expect(try await fleet.origin.requests().isEmpty)
        _ = try await gateway.fetch(url)
        #expect(try await gateway.fetch(url, ["-H", "Cache-Control: only-if-cached"]).status == 200)
        #expect(try await fleet.origin.requests().count == 1)
        _ = try await gateway.fetch(url, ["-H", "Cache-Control: no-cache"])
        #expect(try await fleet.origin.requests().count == 2)
        let old = fleet.origin.url("/old")
        _ = try await gateway.fetch(old)
        let confirmed = try await gateway.fetch(old)
        #expect(confirmed.body == "old" && confirmed.headers["cache-status"]?.hasPrefix("gannet; fwd=stale; fwd-status=304") == true)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test(arguments: [
        ("/gone", 410, "http-410"), ("/forbidden", 502, "http-403"), ("/busy", 503, "http-503"), ("/none", 404, "http-404"),
    ])
    func `a failure is a problem with a class and a fitting status`(path: String, status: Int, errorClass: String) async throws {
        let (fleet, gateway) = try await Self.start()
        let answer = try await gateway.fetch(fleet.origin.url(path))
        #expect(answer.status == status)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(try answer.json()["class"] as? String == errorClass)
        if path == "/busy" { #expect(answer.headers["retry-after"] == "7") }
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a refused address, a text that is no URL and a time that is over are told apart`() async throws {
        let (fleet, gateway) = try await Self.start()
        let silent = try HostileServer(scripts: [[.silence]])
        #expect(try await gateway.fetch("http://10.0.0.1/").status == 403)
        #expect(try await gateway.fetch("nothing").status == 400)
        let late = try await gateway.fetch("http://127.0.0.1:\(silent.port)/", ["-H", "Gannet-Deadline: 0.2"])
        #expect(late.status == 504)
        #expect(try late.json()["class"] as? String == "timeout")
        for time in ["soon", "0x10", "+1", "0.0000001"] {
            #expect(try await gateway.fetch("http://127.0.0.1:\(silent.port)/", ["-H", "Gannet-Deadline: \(time)"]).status == 400)
        }
        let twice = ["-H", "Gannet-Deadline: 1", "-H", "Gannet-Deadline: 60"]
        #expect(try await gateway.fetch("http://127.0.0.1:\(silent.port)/", twice).status == 400)
        try await silent.stop()
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a thousand clients of two gateways that want one cold URL make one request`() async throws {
        let fleet = try await Fleet.start { $0.fileCount = 1 }
        let origin = try LateOrigin(latency: .seconds(1), bodySize: 20_000)
        let gateways = [try await fleet.gateway(), try await fleet.gateway()]
        let target = origin.url("/cold")
        let answers = try await withThrowingTaskGroup(of: [String].self) { group in
            for gateway in gateways {
                // Ten programs with fifty clients each.
                for _ in 0..<10 {
                    group.addTask {
                        let urls = [String](repeating: "\(gateway.url)/v1/fetch?url=\(target)", count: 50)
                        let words = [
                            "curl", "--silent", "--parallel", "--parallel-immediate", "--parallel-max", "50", "--write-out",
                            "%{http_code} %{size_download}\n",
                        ]
                        let places = urls.flatMap { ["--output", "/dev/null", $0] }
                        let outcome = try await ChildProcess.run(
                            .init("/usr/bin/env", words + places, environment: Program(home: "/").environment))
                        return outcome.output.split(separator: "\n").map(String.init)
                    }
                }
            }
            return try await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(answers.count == 1000)
        #expect(Set(answers) == ["200 20000"])
        #expect(origin.answered == 1)
        for gateway in gateways { try await gateway.stop() }
        try await origin.stop()
        try await fleet.stop()
    }

    /// Sends the same request by so many clients, once the first has been heard by the server. The server answers the first when all have asked.
    private func together(
        _ clients: Int, _ gateways: [Gateway], _ head: String, body: String = "x"
    ) async throws -> (answers: [String], requests: Int) {
        let gate = HostileServer.Gate()
        defer { gate.open() }
        let beginning = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\(head)"
        let scripts = (0..<clients).map { number -> [HostileServer.Step] in
            let cookie = "Set-Cookie: visitor=\(number)\r\n\r\n"
            return [.readUntil("\r\n\r\n")] + (number == 0 ? [.wait(for: gate)] : []) + [.send(beginning + cookie + body), .close]
        }
        let server = try HostileServer(scripts: scripts)
        let all = try (0..<clients).map { try RawClient(port: gateways[$0 % gateways.count].port) }
        for (number, client) in all.enumerated() {
            try await client.send(
                "GET /v1/fetch?url=http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            if number == 0 { try await server.received("GET") }
        }
        for (number, gateway) in gateways.enumerated() {
            let own = (clients - number + gateways.count - 1) / gateways.count
            try await eventually("all clients have asked") {
                try await gateway.ask("/metrics").body.contains("gannet_gateway_in_flight \(own + 1)\n")
            }
        }
        gate.open()
        var answers: [String] = []
        for client in all { answers.append(String(decoding: try await client.receive(), as: UTF8.self)) }
        try await server.stop()
        return (answers, server.connections)
    }

    @Test(arguments: ["private", "no-store", "private, max-age=3600"], [1, 100_000])
    func `an answer that is for one client alone goes to no other`(control: String, size: Int) async throws {
        let (fleet, gateway) = try await Self.start("", ["--pass-header", "Set-Cookie"])
        let other = try await fleet.gateway(["--pass-header", "Set-Cookie"])
        let (answers, requests) = try await together(
            6, [gateway, other], "Cache-Control: \(control)\r\n", body: String(repeating: "x", count: size))
        #expect(requests == 6)
        let cookies = answers.compactMap { $0.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") } }
        #expect(cookies.count == 6 && Set(cookies).count == 6)
        #expect(answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200") && $0.hasSuffix(String(repeating: "x", count: size)) })
        for one in [gateway, other] { try await one.stop() }
        try await fleet.stop()
    }

    @Test(arguments: ["max-age=0", "no-cache"])
    func `clients share an answer that is only stale at once`(control: String) async throws {
        let (fleet, gateway) = try await Self.start()
        let (answers, requests) = try await together(6, [gateway], "Cache-Control: \(control)\r\n")
        #expect(requests == 1 && answers.allSatisfy { $0.hasPrefix("HTTP/1.1 200") })
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `when the last client leaves, the request at the origin ends`() async throws {
        let (fleet, gateway) = try await Self.start()
        let silent = try HostileServer(scripts: [[.silence], [.silence]])
        let clients = try (0..<3).map { _ in try RawClient(port: gateway.port) }
        for client in clients {
            try await client.send("GET /v1/fetch?url=http://127.0.0.1:\(silent.port)/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        }
        try await silent.accepted(1)
        for client in clients { client.leave() }
        try await silent.ended(1)
        try await silent.stop()
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a client that wants no fetch gets what another gateway has put into Redis`() async throws {
        let (fleet, first) = try await Self.start()
        let second = try await fleet.gateway()
        let url = fleet.origin.url("/text")
        #expect(try await second.fetch(url, ["-H", "Cache-Control: only-if-cached"]).status == 504)
        _ = try await first.fetch(url)
        let kept = try await second.fetch(url, ["-H", "Cache-Control: only-if-cached"])
        #expect(kept.status == 200 && kept.body == "0123456789" && kept.headers["cache-status"]?.hasPrefix("gannet; hit") == true)
        #expect(try await second.fetch(url, ["-H", "Cache-Control: only-if-cached, max-age=0"]).status == 504)
        #expect(try await fleet.origin.requests().count == 1)
        for gateway in [first, second] { try await gateway.stop() }
        try await fleet.stop()
    }

    /// Two gateways of one Redis, each with a client for the same URL. The first gateway fetches it.
    private static func twoClients(_ fleet: Fleet, of origin: HostileServer) async throws -> ([Gateway], [RawClient]) {
        // Longer than the test: only clients that leave may end the request.
        let patient = ["--timeout", "10m", "--lease", "2s"]
        let gateways = [try await fleet.gateway(patient), try await fleet.gateway(patient)]
        let clients = try gateways.map { try RawClient(port: $0.port) }
        let request = "GET /v1/fetch?url=http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        try await clients[0].send(request)
        try await origin.accepted(1)
        try await clients[1].send(request)
        try await eventually("the second gateway waits for the lock") {
            try await fleet.answers(of: "{gannet}locks", "HVALS").contains { answer in
                guard case .list(let locks) = answer else { return false }
                return locks.contains { $0.text?.contains("inbox:") == true || $0.text?.contains("shard:") == true }
            }
        }
        return (gateways, clients)
    }

    @Test func `a request whose own clients have left goes on for a client of another gateway`() async throws {
        let fleet = try await Fleet.start { $0.fileCount = 1 }
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 40\r\n\r\n"
        let slow = try HostileServer(scripts: [
            [.readUntil("\r\n\r\n"), .send(head), .sendAgain(Array("x".utf8), times: 40, every: .milliseconds(50)), .silence]
        ])
        let (gateways, clients) = try await Self.twoClients(fleet, of: slow)
        clients[0].leave()
        let whole = String(repeating: "x", count: 40)
        let answer = try await clients[1].receive { $0.suffix(40).elementsEqual(whole.utf8) }
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
        #expect(slow.connections == 1)
        try await slow.stop()
        for gateway in gateways { try await gateway.stop() }
        try await fleet.stop()
    }

    @Test func `a request that no client of any gateway waits for ends`() async throws {
        let fleet = try await Fleet.start { $0.fileCount = 1 }
        let silent = try HostileServer(scripts: [[.silence]])
        let (gateways, clients) = try await Self.twoClients(fleet, of: silent)
        clients[0].leave()
        clients[1].leave()
        try await silent.ended(1)
        #expect(silent.connections == 1)
        try await silent.stop()
        for gateway in gateways { try await gateway.stop() }
        try await fleet.stop()
    }

    @Test func `a kept answer that is deleted is fetched again`() async throws {
        let (fleet, gateway) = try await Self.start("", [], .stopped)
        let url = fleet.origin.url("/text")
        _ = try await gateway.fetch(url)
        #expect(try await gateway.ask("/v1/cache?url=\(url)", ["-X", "DELETE"]).status == 204)
        _ = try await gateway.fetch(url)
        #expect(try await fleet.origin.requests().count == 2)
        #expect(try await gateway.ask("/v1/cache?url=nothing", ["-X", "DELETE"]).status == 400)
        // Redis would bring the answer back.
        try await fleet.redis.kill9()
        let away = try await gateway.ask("/v1/cache?url=\(url)", ["-X", "DELETE"])
        #expect(try away.status == 503 && away.json()["class"] as? String == "redis")
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a large body reaches its clients while it comes, and a part of it is not taken for the whole`() async throws {
        let (fleet, gateway) = try await Self.start()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nContent-Type: text/plain\r\n\r\n"
        let origin = try HostileServer(
            scripts: [[.readUntil("\r\n\r\n"), .send(head + String(repeating: "a", count: 200_000)), .silence]])
        let request = "GET /v1/fetch?url=http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        let early = try RawClient(port: gateway.port)
        try await early.send(request)
        let begun = try await early.receive { $0.count > 190_000 }
        let text = String(decoding: begun, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200") && text.contains("Content-Length: 300000\r\n"))
        #expect(text.contains("Content-Security-Policy: sandbox"))
        let late = try RawClient(port: gateway.port)
        try await late.send(request)
        _ = try await late.receive { $0.count > 190_000 }
        #expect(origin.connections == 1)
        try await origin.stop()
        // Both connections end before the 300,000 bytes.
        #expect(try await early.receive().count < 100_000)
        #expect(try await late.receive().count < 100_000)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a large body that was sent while it came is whole, and is kept`() async throws {
        let fleet = try await Fleet.start { options in
            options.fileCount = 12
            options.largestFile = 3_000_000
        }
        let gateway = try await fleet.gateway()
        for file in fleet.origin.files where file.size > 0 {
            let out = fleet.folder.file("body")
            for _ in 0..<2 {
                let words = ["curl", "--silent", "--output", out, "\(gateway.url)/v1/fetch?url=\(fleet.origin.url(file.path))"]
                _ = try await ChildProcess.run(.init("/usr/bin/env", words, environment: Program(home: "/").environment))
                #expect(sha256(of: try contents(ofFile: out)) == file.sha256)
            }
        }
        #expect(fleet.origin.files.contains { $0.size > 500_000 })
        #expect(try await fleet.origin.requests().count == fleet.origin.files.count { $0.size > 0 })
        try await gateway.stop()
        try await fleet.stop()
    }
}
