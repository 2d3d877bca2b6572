import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct HostsCommandTests {
    @Test func `rules are set, listed and cleared`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let none = try await fleet.outcome(["hosts", "list"] + fleet.connection)
        #expect(none.status == 0 && none.output == "" && none.errors == "gannet: there are no rules for hosts in the namespace 'gannet'.\n")
        let set = try await fleet.text(["hosts", "set", "Example.COM", "--limit", "2", "--rate", "0.5"])
        #expect(set == "The rule for the host 'example.com': at most 2 requests at once, at most 0.5 requests a second.\n")
        let domain = try await fleet.json(["hosts", "set", "*.münchen.de", "--pause", "1h"])
        #expect(domain["host"] as? String == "*.xn--mnchen-3ya.de" && domain["pauseSeconds"] as? Double == 3600)
        #expect(domain["limit"] is NSNull && domain["intervalSeconds"] is NSNull)
        _ = try await fleet.text(["hosts", "set", "::1", "--limit", "3"])
        // A rule stands in place of the one before.
        _ = try await fleet.text(["hosts", "set", "[::1]", "--rate", "1"])

        let table = try await fleet.text(["hosts", "list"]).split(separator: "\n").map(String.init)
        #expect(table.count == 4 && table[0] == "HOST                 LIMIT  REQUESTS A SECOND  PAUSED")
        #expect(table[1].hasPrefix("*.xn--mnchen-3ya.de  -      -                  for another 59 min 5"))
        #expect(table[2...] == ["[::1]                -      1                  -", "example.com          2      0.5                -"])
        let rules = try #require(try await fleet.json(["hosts", "list"])["rules"] as? [[String: Any]])
        #expect(rules.map { $0["host"] as? String } == ["*.xn--mnchen-3ya.de", "[::1]", "example.com"])
        #expect(rules[2]["limit"] as? Int == 2 && rules[2]["intervalSeconds"] as? Double == 2)

        #expect(try await fleet.text(["hosts", "clear", "example.com"]) == "Cleared the rule for the host 'example.com'.\n")
        let unknown = try await fleet.outcome(["hosts", "clear", "example.com"] + fleet.connection)
        #expect(unknown.status == 64)
        #expect(
            unknown.errors == "Error: There is no rule for the host 'example.com', and it neither is silent nor rests; "
                + "'gannet hosts list' shows those there are.\n")
        try await fleet.stop()
    }

    @Test func `a rule holds for all workers, and outranks their options`() async throws {
        let fleet = try await Fleet.start(files: 6)
        _ = try await fleet.text(["hosts", "set", fleet.host, "--pause", "1h"])
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        let worker = try fleet.start(fleet.work + ["--host-limit", "8"])
        _ = try await worker.errors.line { $0.contains("working on the queue") }
        let explained = try await fleet.text(["explain", fleet.origin.urls[0]])
        #expect(explained.contains("\nrule     for the host '\(fleet.host)': no request for 59 min 5"), "\(explained)")
        // The worker has met the host: its jobs stand aside.
        try await eventually("the jobs wait for their host") {
            try await fleet.keys("{gannet}q:default:aside:normal:\(fleet.host)").count == 1
        }
        #expect(try await fleet.requests().isEmpty)
        _ = try await fleet.text(["hosts", "set", fleet.host, "--limit", "1"])
        // Sooner than the worker would look at the host of its own accord.
        let status = try await bounded("the worker is told of the new rule", within: .seconds(20)) { try await worker.exitStatus }
        #expect(status == .exited(0))
        try fleet.expectAllBodies()
        let json = try await fleet.json(["explain", fleet.origin.urls[0]])
        let host = try #require(json["host"] as? [String: Any])
        #expect(host["rule"] as? String == fleet.host && host["limit"] as? Int == 1 && host["pauseSeconds"] is NSNull)
        try await fleet.stop()
    }

    @Test func `hosts that are given up or rest are listed, with the reason and the jobs that wait`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 1
            $0.directives = "location /busy/ { add_header Retry-After 600 always; return 503; }"
        }
        let urls = (0..<6).map { fleet.origin.url("/busy/\($0)") } + (0..<3).map { "http://127.0.0.2:1/\($0)" }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        let worker = try fleet.start(["work", "--host-limit", "1"] + fleet.local + fleet.connection)
        func waiting() async throws -> [String: [String: Any]] {
            let all = try await fleet.json(["hosts", "list"])["waiting"] as? [[String: Any]] ?? []
            return Dictionary(all.compactMap { host in (host["host"] as? String).map { ($0, host) } }) { one, _ in one }
        }
        try await eventually("one host is given up, and the other's jobs wait") {
            let hosts = try await waiting()
            return hosts["127.0.0.2:1"]?["state"] as? String == "given-up" && hosts[fleet.host]?["jobs"] as? Int == 5
        }
        // The jobs of the given-up host fail one after the other.
        try await eventually("its jobs have failed") {
            (try await fleet.json(["status"])["totals"] as? [String: Any])?["failed"] as? Int == 3
        }
        let hosts = try await waiting()
        #expect(
            hosts.count == 2 && hosts[fleet.host]?["state"] as? String == "rests" && hosts[fleet.host]?["class"] as? String == "http-503")
        let dead = try #require(hosts["127.0.0.2:1"])
        #expect(dead["failures"] as? Int == 3 && dead["jobs"] as? Int == 0 && dead["nextRequestSeconds"] is NSNull, "\(dead)")
        #expect(hosts[fleet.host]?["givenUpWithinSeconds"] is Double && dead["givenUpWithinSeconds"] is NSNull, "\(hosts)")
        #expect(dead["class"] as? String == "connect" && dead["silentSeconds"] is Double, "\(dead)")
        let lines = try await fleet.text(["hosts", "list"]).split(separator: "\n").map(String.init)
        #expect(lines.count == 3 && lines[0].hasPrefix("HOST  ") && lines[0].contains("  STATE "), "\(lines)")
        #expect(
            lines[1].hasPrefix("\(fleet.host)  rests ") && lines[1].contains("  5  The server answered 503 (http://127.0.0.1:"), "\(lines)")
        #expect(
            lines[2].hasPrefix("127.0.0.2:1 ") && lines[2].contains("  given-up ") && lines[2].contains("Connection refused"), "\(lines)")
        let explained = try await fleet.text(["explain", urls[6]])
        #expect(explained.contains("\nsilent   3 requests in a row without an answer, the first "), "\(explained)")
        #expect(
            !explained.contains("\ngiven up in ") && lines[0].contains("  GIVEN UP  ") && lines[1].contains("  in 59 min "), "\(explained)")
        let delayed = try #require(
            try await fleet.text(["jobs", "list", "--state", "delayed"]).firstMatch(of: /http:\/\/127\.0\.0\.1:[^ ]+/))
        let busy = try await fleet.text(["explain", String(delayed.output)])
        #expect(
            busy.contains("\nheld by  nobody: the URL waits for its next attempt, in 9 min ") && busy.contains("\ngiven up in 59 min "),
            "\(busy)")
        #expect(busy.contains(". The last one: The server answered 503 ("), "\(busy)")
        worker.kill()
        _ = try await worker.exitStatus
        let due = "1 URL of \(fleet.host) is due for the next attempt now.\n"
        for (host, more) in [(fleet.host, due), ("127.0.0.2:1", "")] {
            #expect(try await fleet.text(["hosts", "clear", host]) == "\(host) is asked again.\n\(more)")
        }
        #expect(try await waiting().isEmpty)
        let again = try await fleet.outcome(["hosts", "clear", fleet.host] + fleet.connection)
        #expect(again.status == 64 && again.errors.contains("it neither is silent nor rests"), "\(again.errors)")
        try await fleet.stop()
    }

    @Test func `a run gives up a host that asks for an hour's rest, and 'hosts clear' has the next one ask it`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 0
            $0.directives = "location /busy/ { add_header Retry-After 3600 always; return 503; }"
        }
        let urls = (0..<4).map { fleet.origin.url("/busy/\($0)") }
        func run(asking: Int) async throws {
            let outcome = try await fleet.outcome(
                ["run", "-d", fleet.out, "--give-up-after", "1s", "--host-limit", "1"] + urls + fleet.local + fleet.connection)
            #expect(outcome.status == 1 && outcome.output.contains("4 failed (http-503 4)"), "\(outcome.output)")
            let requests = try await fleet.requests()
            #expect(requests.values.reduce(0, +) == asking, "\(requests)")
        }
        try await run(asking: 1)
        let rows = try String(decoding: contents(ofFile: fleet.out + "/manifest.jsonl"), as: UTF8.self).split(separator: "\n")
        #expect(rows.count == 4 && rows.filter { $0.contains("\"httpStatus\":503") }.count == 1, "one URL has an answer: \(rows)")
        // A later run keeps the rest, for as long as its own patience.
        try await run(asking: 1)
        #expect(try await fleet.text(["hosts", "clear", fleet.host]) == "\(fleet.host) is asked again.\n")
        try await run(asking: 2)
        try await fleet.stop()
    }

    @Test func `another port is another host, which has the rule of its domain and none of its name`() async throws {
        let fleet = try await Fleet.start(files: 1)
        func rule(_ url: String) async throws -> String? {
            (try await fleet.json(["explain", url])["host"] as? [String: Any])?["rule"] as? String
        }
        for host in ["*.example.com", "A.example.com:443", "b.example.com:8081", "b.example.com:8082", "[::1]:81"] {
            _ = try await fleet.text(["hosts", "set", host, "--limit", "2"])
        }
        for scheme in ["http", "https"] { #expect(try await rule("\(scheme)://a.example.com/") == "a.example.com") }
        for port in [8081, 8082] { #expect(try await rule("http://b.example.com:\(port)/") == "b.example.com:\(port)") }
        #expect(try await rule("http://b.example.com:8083/") == "*.example.com")
        #expect(try await rule("http://[::1]:81/") == "[::1]:81")
        #expect(try await rule("http://[::1]/") == nil)
        let unknown = try await fleet.outcome(["hosts", "clear", "b.example.com"] + fleet.connection)
        #expect(unknown.status == 64)
        #expect(
            unknown.errors == "Error: There is no rule for the host 'b.example.com', and it neither is silent nor rests; "
                + "each port is a host: b.example.com:8081, b.example.com:8082.\n")
        try await fleet.stop()
    }

    @Test func `a dead port costs URLs of the same name on another port nothing`() async throws {
        let fleet = try await Fleet.start(files: 20)
        let dead = (0..<3).map { "http://127.0.0.1:1/\($0)" }
        try fleet.folder.write(Array((dead + fleet.origin.urls).joined(separator: "\n").utf8), to: "urls.txt")
        let outcome = try await fleet.outcome(fleet.run)
        #expect(outcome.status == 1 && outcome.output.hasPrefix("20 URLs fetched, 3 failed ("), "\(outcome.output)")
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `a host's own rule outranks its domain's, until the rule's pause has ended`() async throws {
        let fleet = try await Fleet.start(files: 1)
        func rule(_ host: String) async throws -> String? {
            (try await fleet.json(["explain", "http://\(host)/"])["host"] as? [String: Any])?["rule"] as? String
        }
        _ = try await fleet.text(["hosts", "set", "*.example.com", "--limit", "2"])
        _ = try await fleet.text(["hosts", "set", "*.b.example.com", "--limit", "3"])
        _ = try await fleet.text(["hosts", "set", "a.example.com", "--limit", "4"])
        #expect(try await rule("a.example.com") == "a.example.com")
        #expect(try await rule("c.example.com") == "*.example.com")
        #expect(try await rule("a.b.example.com") == "*.b.example.com")
        #expect(try await rule("example.com") == nil)
        _ = try await fleet.text(["hosts", "set", "a.example.com", "--pause", "1ms"])
        try await eventually("the pause has ended") { try await rule("a.example.com") == "*.example.com" }
        #expect(try await fleet.text(["hosts", "list"]).contains("\na.example.com    -      -                  no more\n"))
        try await fleet.stop()
    }

    @Test(
        "A rule that cannot be is exit 64 and says why",
        arguments: [
            (
                "set http://h/ --limit 1",
                "Error: 'http://h/' is no host: name one such as 'example.com' or 'example.com:8080', or '*.example.com' for each host below it.\n"
            ),
            ("set * --limit 1", "Error: '*' is no host"), ("set *.*.h --limit 1", "Error: '*.*.h' is no host"),
            ("set u@h --limit 1", "Error: 'u@h' is no host"), ("clear *.", "Error: '*.' is no host"),
            ("set h:x --limit 1", "Error: 'h:x' is no host"), ("set *.h:81 --limit 1", "Error: '*.h:81' is no host"),
            ("set h", "Error: A rule needs '--limit', '--rate' or '--pause'.\n"),
            ("set h --limit 0", "use a whole number from 1 to 10000"),
            ("set h --rate 0", "use a number from 0.001 to 1000, such as 2 or 0.5"),
            ("set h --pause soon", "use a whole number with a unit"), ("set --limit 1", "Missing expected argument '<host>'"),
            ("list h", "Unexpected argument 'h'"), ("clear h i", "Unexpected argument 'i'"),
        ])
    func refusals(words: String, sentence: String) async throws {
        let outcome = try await Program(home: "/dev/null/none").run(["hosts"] + words.split(separator: " ").map(String.init))
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    }
}
