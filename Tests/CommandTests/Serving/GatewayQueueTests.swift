import Foundation
import GannetTestKit
import Testing

/// `gannet serve`: the queues of the cluster.
@Suite(.timeLimit(.minutes(2))) struct GatewayQueueTests {
    private func post(_ body: String, _ path: String, _ gateway: Gateway, type: String = "text/plain") async throws -> Gateway.Answer {
        try await gateway.ask(path, ["--data-binary", body, "-H", "Content-Type: \(type)"])
    }

    @Test func `a list becomes jobs that workers fetch, and its batch is shown`() async throws {
        let fleet = try await Fleet.start(files: 20)
        let gateway = try await fleet.gateway()
        let list = fleet.origin.urls.joined(separator: "\n") + "\nnone\n"
        let accepted = try await post(list, "/v1/jobs?batch=one&priority=high", gateway).json()
        #expect(accepted["accepted"] as? Int == 20 && accepted["invalid"] as? Int == 1 && accepted["batch"] as? String == "one")
        #expect(try await fleet.outcome(fleet.work).status == 0)
        let batch = try await gateway.ask("/v1/batches/one").json()
        #expect(batch["done"] as? Int == 20 && batch["priority"] as? String == "high")
        let totals = try #require(try await gateway.ask("/v1/status").json()["totals"] as? [String: Any])
        #expect(totals["done"] as? Int == 20)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a list without a URL leaves no batch behind, whatever its name`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let empty = try await post("", "/v1/jobs", gateway)
        #expect(empty.status == 200)
        #expect(try empty.json()["accepted"] as? Int == 0 && empty.json()["batch"] is NSNull)
        #expect(try await (gateway.ask("/v1/batches").json()["batches"] as? [Any])?.isEmpty == true)
        #expect(try await post("", "/v1/jobs?batch=named", gateway).json()["batch"] is NSNull)
        let refused = try await post("none\n\nnor this\n", "/v1/jobs?batch=named", gateway)
        #expect(try refused.status == 422 && refused.json()["invalid"] as? Int == 2 && refused.json()["batch"] is NSNull)
        #expect(try await gateway.ask("/v1/batches/named").status == 404)
        let last = try await post("none\n\nnor this\nhttp://127.0.0.1:1/\nnone\n", "/v1/jobs?batch=named", gateway).json()
        #expect(last["accepted"] as? Int == 1 && last["invalid"] as? Int == 3 && last["batch"] as? String == "named")
        let places = (last["complaints"] as? [[String: Any]])?.compactMap { $0["place"] as? String }
        #expect(places == ["line 1", "line 3", "line 5"])
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a batch goes on with its own list alone`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let list = "http://127.0.0.1:1/a\nhttp://127.0.0.1:1/b\n"
        for _ in 0..<2 { #expect(try await post(list, "/v1/jobs?batch=mine", gateway).json()["accepted"] as? Int == 2) }
        let other = try await post(list.replacing("/b", with: "/c"), "/v1/jobs?batch=mine", gateway)
        #expect(try other.status == 409 && other.json()["class"] as? String == "other-list")
        #expect(try await gateway.ask("/v1/batches/mine").json()["total"] as? Int == 2)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `JSON lines are read, and a list of nothing is told so`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let lines = "{\"url\":\"http://127.0.0.1:1/a\"}\n{\"url\":\"http://127.0.0.1:1/b\"}\n"
        #expect(try await post(lines, "/v1/jobs", gateway, type: "application/x-ndjson").json()["accepted"] as? Int == 2)
        #expect(try await post("none", "/v1/jobs", gateway).status == 422)
        #expect(try await post("a", "/v1/jobs", gateway, type: "application/xml").status == 415)
        let binary = try await post("\u{1}\u{2}\u{3}", "/v1/jobs", gateway).json()["detail"] as? String
        #expect(binary == "The list cannot be read: it is a binary file; a list of URLs is text.")
        // gzip's first byte; a few of its bytes could keep the gateway busy for long.
        let packed = try await post("\u{1F}", "/v1/jobs", gateway).json()["detail"] as? String
        #expect(packed == "The list cannot be read: it is packed with gzip. Send it unpacked.")
        #expect(try await post("http://127.0.0.1:1/", "/v1/jobs?batch=over", gateway).status == 200)
        #expect(try await gateway.ask("/v1/batches/over/cancel", ["-X", "POST"]).status == 200)
        #expect(try await post("http://127.0.0.1:1/", "/v1/jobs?batch=over", gateway).status == 409)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `jobs are listed by state, batch and URL, a page at a time, and deleted`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        for batch in ["a", "b"] {
            let list = (0..<7).map { "http://127.0.0.1:1/\(batch)\($0)" }.joined(separator: "\n")
            #expect(try await post(list, "/v1/jobs?batch=\(batch)", gateway).status == 200)
        }
        func urls(_ query: String) async throws -> ([String], cursor: String?) {
            let page = try await gateway.ask("/v1/jobs?state=ready" + query).json()
            let jobs = try #require(page["jobs"] as? [[String: Any]])
            return (jobs.compactMap { $0["url"] as? String }, page["cursor"] as? String)
        }
        #expect(try await urls("").0.count == 14)
        #expect(try await Set(urls("&batch=b").0) == Set((0..<7).map { "http://127.0.0.1:1/b\($0)" }))
        #expect(try await urls("&url=http://127.0.0.1:1/a3").0 == ["http://127.0.0.1:1/a3"])
        var found: [String] = []
        var cursor: String? = ""
        while let next = cursor {
            let (page, following) = try await urls("&limit=4" + (next.isEmpty ? "" : "&cursor=\(next)"))
            found += page
            cursor = following
        }
        #expect(found.count == 14 && Set(found).count == 14)
        #expect(try await gateway.ask("/v1/jobs?state=ready&batch=none").status == 404)
        #expect(try await gateway.ask("/v1/jobs?state=ready", ["-X", "DELETE"]).json()["count"] as? Int == 14)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `dead jobs are listed by their class and tried again`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let url = "http://127.0.0.1:\(fleet.origin.port)/none"
        _ = try await post(url, "/v1/jobs", gateway)
        _ = try await fleet.outcome(fleet.work)
        let dead = try #require(try await gateway.ask("/v1/jobs?class=http-404").json()["jobs"] as? [[String: Any]])
        #expect(dead.map { $0["url"] as? String } == [url])
        #expect(try await gateway.ask("/v1/jobs/retry?class=http-404", ["-X", "POST"]).json()["count"] as? Int == 1)
        #expect(try await gateway.ask("/v1/jobs?state=ready&class=http-404").status == 400)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `events tell at once how a queue stands, and again when it changes`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        let client = try RawClient(port: gateway.port)
        try await client.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let first = try await client.text(until: "\n\n\r\n")
        #expect(first.contains("Content-Type: text/event-stream") && first.contains("event: status\n") && first.contains("\"ready\":0"))
        _ = try await post("http://127.0.0.1:1/", "/v1/jobs", gateway)
        let more = try await client.receive { String(decoding: $0, as: UTF8.self).contains("\"ready\":1") }
        #expect(String(decoding: more, as: UTF8.self).contains("\"ready\":1"))
        client.leave()
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a queue in which only time goes by has no events`() async throws {
        let fleet = try await Fleet.start(.stopped, files: 1)
        let gateway = try await fleet.gateway()
        // Its age is in the status, and goes on.
        _ = try await post("http://127.0.0.1:1/", "/v1/jobs", gateway)
        let client = try RawClient(port: gateway.port)
        try await client.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await client.text(until: "\n\n\r\n")
        // A look has two of these.
        try await fleet.redis.watch().saw(6, of: "HGETALL")
        try await fleet.redis.stop()
        let more = String(decoding: try await client.receive { String(decoding: $0, as: UTF8.self).contains("problem") }, as: UTF8.self)
        #expect(!more.contains("event: status") && more.contains("event: problem"), "\(more)")
        client.leave()
        try await gateway.stop()
        try await fleet.origin.stop()
    }

    @Test func `a Redis that is away is told at once, in the answer and in the log, and so is its return`() async throws {
        let fleet = try await Fleet.start(.stopped, files: 1)
        let gateway = try await fleet.gateway()
        try await fleet.redis.stop()
        #expect(try await gateway.process.errors.line { $0.hasPrefix("gannet: waiting for Redis at \(fleet.address): ") } != nil)
        for (path, words) in [("/v1/status", []), ("/v1/jobs", ["--data-binary", "http://127.0.0.1:1/"]), ("/v1/hosts", [String]())] {
            let answer = try await gateway.ask(path, words)
            #expect(try answer.status == 503 && answer.json()["class"] as? String == "redis", "\(path)")
            #expect(answer.headers["retry-after"] == "1")
        }
        try await fleet.redis.restart()
        #expect(try await gateway.process.errors.line { $0 == "gannet: Redis is back; going on." } != nil)
        #expect(try await gateway.ask("/v1/status").status == 200)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a class of failures that there is not is a mistake, and the document tells the classes`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        for path in ["/v1/jobs?class=timeuot", "/v1/jobs?class=http-99", "/v1/jobs?class="] {
            let answer = try await gateway.ask(path)
            let detail = try answer.json()["detail"] as? String
            #expect(answer.status == 400 && detail?.contains("timeout") == true, "\(path)")
        }
        for path in ["/v1/jobs?class=timeout", "/v1/jobs?class=http-404", "/v1/jobs?class=poison"] {
            #expect(try await gateway.ask(path).status == 200, "\(path)")
        }
        #expect(try await gateway.ask("/v1/openapi.json").body.contains("^(http-[1-9][0-9]{2}|"))
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a queue is paused, and a host has a rule, as commands see it`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway()
        #expect(try await gateway.ask("/v1/pause", ["-X", "POST"]).json()["wasPaused"] as? Bool == false)
        #expect(try await gateway.ask("/v1/resume", ["-X", "POST"]).json()["wasPaused"] as? Bool == true)
        #expect(try await gateway.ask("/v1/hosts/*.example.com?limit=3", ["-X", "PUT"]).json()["limit"] as? Int == 3)
        #expect(try await fleet.outcome(["hosts", "list"] + fleet.connection).output.contains("*.example.com"))
        #expect(try await gateway.ask("/v1/hosts/*.a:81?limit=3", ["-X", "PUT"]).status == 400)
        #expect(try await gateway.ask("/v1/hosts/A:81?limit=3", ["-X", "PUT"]).json()["host"] as? String == "a:81")
        let slow = try await gateway.ask("/v1/hosts/slow.example?intervalSeconds=0.25", ["-X", "PUT"]).json()
        #expect(slow["intervalSeconds"] as? Double == 0.25)
        for time in ["-1", "0.0000001", "0x10"] {
            #expect(try await gateway.ask("/v1/hosts/slow.example?intervalSeconds=\(time)", ["-X", "PUT"]).status == 400)
        }
        #expect(try await gateway.ask("/v1/hosts/*.example.com", ["-X", "DELETE"]).status == 200)
        #expect(try await gateway.ask("/v1/hosts/*.example.com", ["-X", "DELETE"]).status == 404)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a server for reading alone shows and changes nothing`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let gateway = try await fleet.gateway(["--read-only"])
        #expect(try await gateway.ask("/v1/status").status == 200)
        #expect(try await gateway.fetch(fleet.origin.urls[0]).status == 403)
        #expect(try await post("http://127.0.0.1:1/", "/v1/jobs", gateway).status == 403)
        #expect(try await gateway.ask("/v1/pause", ["-X", "POST"]).status == 403)
        #expect(try await fleet.origin.requests().isEmpty)
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a token is asked for, and counts at once and a second`() async throws {
        let fleet = try await Fleet.start(files: 1)
        try fleet.folder.write(Array("0123456789abcdef-one per-second=2\n".utf8), to: "tokens")
        let gateway = try await fleet.gateway(["--token-file", fleet.folder.file("tokens")])
        #expect(try await gateway.ask("/v1/status").status == 401)
        let token = ["-H", "Authorization: Bearer 0123456789abcdef-one"]
        #expect(try await gateway.ask("/healthz").status == 200)
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await gateway.ask("/v1/openapi.json", token).status) }
        #expect(statuses.prefix(2) == [200, 200])
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a stream counts as under way until it ends or its client leaves`() async throws {
        let fleet = try await Fleet.start(files: 1)
        try fleet.folder.write(Array("0123456789abcdef at-once=2\n".utf8), to: "tokens")
        let gateway = try await fleet.gateway(["--token-file", fleet.folder.file("tokens")])
        let token = "Authorization: Bearer 0123456789abcdef"
        var clients: [RawClient] = []
        for _ in 0..<2 {
            let client = try RawClient(port: gateway.port)
            try await client.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\(token)\r\n\r\n")
            _ = try await client.text(until: "\n\n\r\n")
            clients.append(client)
        }
        #expect(try await gateway.ask("/v1/openapi.json", ["-H", token]).status == 429)
        clients[0].leave()
        // Answers that are whole free their place at once, however many come after each other.
        try await eventually("a client that has left frees its place") {
            try await gateway.ask("/v1/openapi.json", ["-H", token]).status == 200
        }
        for _ in 0..<3 { #expect(try await gateway.ask("/v1/openapi.json", ["-H", token]).status == 200) }
        clients[1].leave()
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test(arguments: [
        (["--bind", ":0"], "takes '--token-file' or GANNET_TOKEN"),
        (["--bind", ":0", "--token", "0123456789abcdef"], "'--tls-cert' and '--tls-key'"),
        (["--token", "0123456789abcdef", "--forward-header", "authorization"], "is a secret of this server"),
        (["--forward-header", "Host"], "cannot send on 'Host'"), (["--forward-header", "If-None-Match"], "cannot send on 'If-None-Match'"),
        (["--forward-header", "X Y"], "cannot send on 'X Y'"), (["--pass-header", "Content-Security-Policy"], "cannot hand on"),
        (["--pass-header", "Content-Length"], "cannot hand on"),
        (["--thumbnail-program", "/nowhere/x"], "/nowhere/x"),
        (["--tls-cert", "a"], "need each other"), (["--token", "short"], "16 or more"), (["--token-file", "/none"], "cannot be read"),
    ])
    func `an unsafe way to serve is refused before anything listens`(words: [String], sentence: String) async throws {
        let fleet = try await Fleet.start(files: 1)
        let outcome = try await fleet.outcome(["serve"] + words + fleet.connection)
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
        #expect(!outcome.errors.contains("0123456789abcdef"))
        try await fleet.stop()
    }
}
