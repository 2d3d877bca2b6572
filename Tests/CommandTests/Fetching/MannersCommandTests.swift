import Foundation
import GannetTestKit
import Testing

/// robots.txt and opt-outs, by the real binary at a real origin.
@Suite(.timeLimit(.minutes(2))) struct MannersCommandTests {
    private static let obey = ["--robots", "obey"]
    private static let rules = "User-agent: gannet\\nDisallow: /private\\n"

    private static func start(
        robots: String = "return 200 \"\(rules)\";", addresses: [String] = ["127.0.0.1"], files: Int = 3, _ more: String = ""
    ) async throws -> Fleet {
        try await Fleet.start {
            $0.fileCount = files
            $0.addresses = addresses
            $0.directives = """
                location = /robots.txt { default_type text/plain; \(robots) }
                location /private { default_type text/plain; return 200 "secret"; }
                \(more)
                """
        }
    }

    private static func manifest(_ fleet: Fleet) throws -> [[String: Any]] {
        try String(decoding: contents(ofFile: fleet.out + "/manifest.jsonl"), as: UTF8.self).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private static func error(_ row: [String: Any]) -> String {
        let error = row["error"] as? [String: Any]
        return "\(error?["class"] ?? ""): \(error?["message"] ?? "")"
    }

    @Test func `a run leaves out disallowed URLs, names the rule, and succeeds`() async throws {
        let fleet = try await Self.start()
        let private1 = fleet.origin.url("/private/1")
        let outcome = try await fleet.outcome(fleet.run + Self.obey + [private1])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("3 URLs fetched, 0 failed, 1 not permitted by its site; 4 rows, "), "\(outcome.output)")
        #expect(outcome.output.hasSuffix("; manifest.jsonl there names the rules\n"))
        let row = try #require(try Self.manifest(fleet).first)
        let rule = "line 2 of \(fleet.origin.url("/robots.txt")) says 'Disallow: /private'"
        #expect(Self.error(row) == "disallowed: The site does not permit the fetch (\(private1)): \(rule).")
        #expect(row["outcome"] as? String == "disallowed" && row["result"] as? String == "disallowed")
        let requests = try await fleet.requests()
        #expect(requests["/private/1"] == nil && requests["/robots.txt"] == 1)
        let json = try await fleet.outcome(fleet.run + Self.obey + [private1, "--json"])
        #expect(json.status == 0 && json.output.contains("\"failed\":0,\"disallowed\":1,\"invalid\":0"), "\(json.output)")

        // The same list without obedience.
        let all = try await fleet.outcome(fleet.run + [private1])
        #expect(all.status == 0 && all.output.hasPrefix("1 URL fetched, 3 there already, 0 failed; "), "\(all.output)")
        try await fleet.stop()
    }

    @Test func `a host that asks for time between requests is named, with the jobs that wait for it`() async throws {
        let fleet = try await Self.start(robots: "return 200 \"User-agent: *\\nCrawl-delay: 50\\n\";", files: 9)
        _ = try await fleet.text(["enqueue", "-i", fleet.list] + Self.obey)
        let worker = try fleet.start(["work"] + fleet.local + fleet.connection)
        var seen: [String: Any] = [:]
        func waiting() async throws -> [String: Any]? {
            seen = try await fleet.json(["hosts", "list"])
            return (seen["waiting"] as? [[String: Any]])?.first { $0["host"] as? String == fleet.host }
        }
        try await eventually("all other jobs wait for the host, and not \(seen)") { try await waiting()?["jobs"] as? Int == 8 }
        let host = try #require(try await waiting())
        #expect(host["state"] as? String == "paced" && host["givenUpWithinSeconds"] is NSNull, "\(host)")
        let pace = try #require(host["paceSeconds"] as? Double)
        #expect(50...57 ~= pace && (host["nextRequestSeconds"] as? Double).map { 0...pace ~= $0 } == true, "\(host)")
        let words = " asks for \(Int(pace)).\(Int((pace * 10).rounded()) % 10) s between requests (Crawl-delay or slow answers)"
        let listed = try await fleet.text(["hosts", "list"])
        #expect(listed.contains("\n\(fleet.host)  paced ") && listed.contains("  8  it\(words)"), "\(listed)")
        let status = try await fleet.text(["status"])
        #expect(
            status.contains("1 host asks for time between requests (\(fleet.host):\(words), 8 URLs wait, for ")
                && status.contains(" at least); 8 wait for 1 host"), "\(status)")
        let silent = (try await fleet.json(["status"])["waits"] as? [String: Any])?["silentHosts"] as? [[String: Any]]
        #expect(silent?.first?["jobs"] as? Int == 8 && silent?.first?["paceSeconds"] as? Double == pace)
        // An operator's rule outranks it.
        _ = try await fleet.text(["hosts", "set", fleet.host, "--rate", "100"])
        #expect(try await waiting() == nil)
        worker.kill()
        _ = try await worker.exitStatus
        try await fleet.stop()
    }

    @Test func `run and enqueue obey unless they are told not to`() async throws {
        let fleet = try await Self.start(files: 1)
        let outcome = try await fleet.outcome(fleet.run + [fleet.origin.url("/private/1")], with: ["GANNET_ROBOTS": nil])
        #expect(outcome.status == 0 && outcome.output.contains("1 not permitted by its site"), "\(outcome.output)")
        _ = try await fleet.outcome(
            ["enqueue", fleet.origin.url("/x"), "--batch", "b"] + fleet.connection, with: ["GANNET_ROBOTS": nil])
        let batch = try await fleet.json(["batch", "show", "b"])
        #expect(batch["robots"] as? String == "obey" && batch["optOuts"] as? String == "heed")
        _ = try await fleet.text(["enqueue", fleet.origin.url("/x"), "--batch", "c"])
        let other = try await fleet.json(["batch", "show", "c"])
        #expect(other["robots"] as? String == "ignore" && other["optOuts"] as? String == "ignore")
        try await fleet.stop()
    }

    @Test func `three workers fetch each robots.txt once, and keep the manners of the batch`() async throws {
        let addresses = (1...12).map { "127.0.0.\($0)" }
        let fleet = try await Self.start(addresses: addresses, files: 20)
        let urls = addresses.flatMap { host in
            (0..<20).map { "http://\(host):\(fleet.origin.port)/\($0 % 4 == 0 ? "private/" : "")\($0).bin" }
        }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b"] + Self.obey)
        let workers = try (0..<3).map { _ in try fleet.start(["work", "--until-empty"] + fleet.local + fleet.connection) }
        for worker in workers { #expect(try await worker.exitStatus == .exited(0)) }
        let requests = try await fleet.requests()
        #expect(requests["/robots.txt"] == addresses.count)
        #expect(requests.keys.allSatisfy { !$0.hasPrefix("/private") })
        let waited = try await fleet.outcome(["batch", "wait", "b"] + fleet.connection)
        #expect(
            waited.status == 0 && waited.output == "180 of 240 URLs done, 0 failed, 60 not permitted by their sites.\n", "\(waited.output)")
        let explained = try await fleet.text(["explain", urls[0]])
        #expect(explained.contains("The site does not permit the fetch") && explained.contains("says 'Disallow: /private'"), "\(explained)")
        #expect(try await fleet.text(["batch", "show", "b"]).contains("\nfailed     0\ndisallowed 60\n"))
        let shown = try await fleet.json(["batch", "show", "b"])
        #expect(shown["failed"] as? Int == 0 && shown["disallowed"] as? Int == 60)
        let totals = try await fleet.json(["status"])["totals"] as? [String: Int]
        #expect(totals?["failed"] == 60 && totals?["disallowed"] == 60, "\(totals ?? [:])")
        #expect(try await fleet.text(["status"]).contains("\n" + fleet.row("failed", "60 (60 not permitted)")))
        #expect(explained.contains("job      of the batch 'b', which obeys robots.txt, heeds opt-outs; given up: The site"), "\(explained)")
        // Jobs that are tried again are not counted twice.
        _ = try await fleet.text(["jobs", "retry", "--class", "disallowed"])
        #expect(try await fleet.json(["batch", "show", "b"])["disallowed"] as? Int == 0)
        try await fleet.stop()
    }

    @Test func `a redirect to a path that is disallowed is not followed, at the same host and at another`() async throws {
        let fleet = try await Self.start(
            addresses: ["127.0.0.1", "127.0.0.2"],
            """
            location = /same { return 302 /private/same; }
            location = /other { return 302 http://127.0.0.2:$server_port/private/other; }
            location = /fine { return 302 http://127.0.0.2:$server_port/0.bin; }
            """)
        let urls = ["/same", "/other", "/fine"].map(fleet.origin.url)
        let outcome = try await fleet.outcome(["run", "-d", fleet.out] + urls + Self.obey + fleet.local + fleet.connection)
        #expect(
            outcome.status == 0 && outcome.output.hasPrefix("1 URL fetched, 0 failed, 2 not permitted by their sites; "),
            "\(outcome.output)")
        let rows = try Self.manifest(fleet)
        #expect(Self.error(rows[0]).contains("redirected to \(fleet.origin.url("/private/same")): line 2 of "))
        #expect(
            Self.error(rows[1]).contains("redirected to http://127.0.0.2:\(fleet.origin.port)/private/other: line 2 of http://127.0.0.2"))
        let requests = try await fleet.requests()
        #expect(requests.keys.allSatisfy { !$0.hasPrefix("/private") } && requests["/0.bin"] == 1 && requests["/robots.txt"] == 2)
        try await fleet.stop()
    }

    @Test func `a host that takes no connection is silent, also where the time for an answer is as short as that for the connection`()
        async throws
    {
        let fleet = try await Fleet.start(files: 0)
        let evil = try EvilOrigin(try await Certificates.shared)
        let urls = (0..<3).map { evil.url(.neverAccepts) + "?\($0)" }
        let times = ["--timeout", "200ms", "--connect-timeout", "200ms", "--host-patience", "2s"]
        let outcome = try await fleet.outcome(["run", "-d", fleet.out] + urls + times + Self.obey + fleet.local + fleet.connection)
        #expect(outcome.status == 1, "\(outcome.errors)")
        let rows = try Self.manifest(fleet)
        #expect(rows.count == 3 && rows.allSatisfy { Self.error($0).contains("Timed out connecting") }, "\(rows.map(Self.error))")
        #expect(rows.allSatisfy { Self.error($0).contains("the robots.txt of the site could not be read") }, "\(rows.map(Self.error))")
        try await evil.stop()
        try await fleet.stop()
    }

    @Test(arguments: ["return 404;", "return 403;", "return 302 /robots.txt;", "return 302 ftp://h/;"])
    func `an origin without a robots.txt permits everything`(robots: String) async throws {
        let fleet = try await Self.start(robots: robots)
        let outcome = try await fleet.outcome(fleet.run + Self.obey + [fleet.origin.url("/private/1")])
        #expect(outcome.status == 0 && outcome.output.hasPrefix("4 URLs fetched, 0 failed; "), "\(outcome.output)\(outcome.errors)")
        try await fleet.stop()
    }

    @Test func `rules within the first 500 KiB of a huge robots.txt count, and later ones do not`() async throws {
        let files = try TemporaryFolder()
        let text =
            "User-agent: *\nDisallow: /0.bin\n" + String(repeating: "# \(String(repeating: "x", count: 97))\n", count: 20_000)
            + "Disallow: /1.bin\n"
        try files.write(Array(text.utf8), to: "robots.txt")
        let fleet = try await Self.start(robots: "alias \(files.file("robots.txt"));")
        let outcome = try await fleet.outcome(fleet.run + Self.obey)
        #expect(
            outcome.status == 0 && outcome.output.hasPrefix("2 URLs fetched, 0 failed, 1 not permitted by its site; "), "\(outcome.output)")
        #expect(try await fleet.requests()["/0.bin"] == nil)
        try await fleet.stop()
    }

    @Test func `a job for robots.txt itself is fetched, whatever the file says`() async throws {
        let fleet = try await Self.start(robots: "return 200 \"User-agent: *\\nDisallow: /\\n\";")
        let outcome = try await fleet.outcome(fleet.run + Self.obey + [fleet.origin.url("/robots.txt")])
        #expect(outcome.output.hasPrefix("1 URL fetched, 0 failed, 3 not permitted by their sites; "), "\(outcome.output)")
        let row = try #require(try Self.manifest(fleet).first)
        let file = try #require(row["file"] as? String)
        #expect(String(decoding: try contents(ofFile: fleet.out + "/" + file), as: UTF8.self) == "User-agent: *\nDisallow: /\n")
        try await fleet.stop()
    }

    @Test func `an opt-out keeps a body from being stored, is recorded, or is ignored`() async throws {
        let reserved = """
            location = /noai { default_type image/png; add_header X-Robots-Tag "noimageai"; return 200 "picture"; }
            location = /tdm { add_header tdm-reservation 1; return 200 "text"; }
            location = /others { add_header X-Robots-Tag "otherbot: noai"; return 200 "text"; }
            """
        let fleet = try await Self.start(reserved)
        func run(_ words: [String]) async throws -> (String, [[String: Any]]) {
            let urls = ["/noai", "/tdm", "/others"].map(fleet.origin.url)
            let outcome = try await fleet.outcome(["run", "-d", fleet.out, "--refresh"] + urls + words + fleet.local + fleet.connection)
            #expect(outcome.status == 0, "\(outcome.errors)")
            return (outcome.output, try Self.manifest(fleet))
        }
        var (output, rows) = try await run(Self.obey)
        #expect(output.hasPrefix("1 URL fetched, 0 failed, 2 not permitted by their sites; "), "\(output)")
        #expect(Self.error(rows[0]).hasSuffix("(\(fleet.origin.url("/noai"))): X-Robots-Tag: noimageai."))
        #expect(Self.error(rows[1]).hasSuffix("(\(fleet.origin.url("/tdm"))): tdm-reservation: 1."))
        #expect(try fleet.bodies().count == 1)

        (output, rows) = try await run(Self.obey + ["--opt-outs", "record"])
        #expect(output.hasPrefix("3 URLs fetched, 0 failed; "), "\(output)")
        #expect(rows.map { $0["optOut"] as? String } == ["X-Robots-Tag: noimageai", "tdm-reservation: 1", nil])
        (output, rows) = try await run([])
        #expect(output.hasPrefix("3 URLs fetched, 0 failed; ") && rows.allSatisfy { $0["optOut"] == nil }, "\(output)")
        try await fleet.stop()
    }

    @Test func `each batch is exported by its own manners, whatever others fetch before and after it`() async throws {
        let fleet = try await Self.start(files: 1, "location = /noai { add_header X-Robots-Tag noai; return 200 text; }")
        let urls = ["/0.bin", "/private/1", "/noai"].map(fleet.origin.url)
        func add(_ batch: String, _ words: [String]) async throws {
            _ = try await fleet.text(["enqueue", "--batch", batch] + urls + words)
            let worker = try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection)
            #expect(worker.status == 0, "\(worker.errors)")
        }
        func export(_ batch: String, _ time: String = "") async throws -> (output: String, bodies: Int) {
            let folder = fleet.folder.file(batch + time)
            let outcome = try await fleet.outcome(["export", "--batch", batch, "-d", folder] + fleet.connection)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let lines = String(decoding: try contents(ofFile: folder + "/manifest.jsonl"), as: UTF8.self).split(separator: "\n")
            return (outcome.output, lines.count { $0.contains("\"error\":null") })
        }
        try await add("ignores", ["--robots", "ignore", "--opt-outs", "ignore"])
        try await add("obeys", Self.obey)
        #expect(try await export("ignores").bodies == 3)
        let obeying = try await export("obeys")
        #expect(obeying.bodies == 1 && obeying.output.contains("2 not permitted by their sites"), "\(obeying.output)")
        // The first batch keeps the bodies that this batch may not have.
        try await add("again", Self.obey + ["--refresh"])
        #expect(try await export("ignores", "2").bodies == 3)
        #expect(try await export("again").bodies == 1)
        #expect(try await fleet.requests()["/private/1"] == 1)
        try await fleet.stop()
    }

    @Test func `a contact stands behind the user agent, also in the request for robots.txt`() async throws {
        let fleet = try await Fleet.start {
            $0.fileCount = 1
            $0.directives =
                "location = /agent { default_type text/plain; return 200 $http_user_agent; } location = /robots.txt { if ($http_user_agent ~ contact) { return 404; } return 200 \"User-agent: *\\nDisallow: /\"; }"
        }
        let words = ["run", "-d", fleet.out, fleet.origin.url("/agent")] + Self.obey + fleet.local + fleet.connection
        let outcome = try await fleet.outcome(words + ["--contact", "https://example.org/contact"])
        #expect(outcome.status == 0 && outcome.output.hasPrefix("1 URL fetched"), "\(outcome.output)\(outcome.errors)")
        let body = try #require(try fleet.bodies().first)
        let agent = String(decoding: try contents(ofFile: fleet.out + "/" + body), as: UTF8.self)
        #expect(agent.hasPrefix("gannet/") && agent.hasSuffix(" (+https://example.org/contact)"), "\(agent)")
        #expect(try await fleet.outcome(words + ["--contact", "me (at home)"]).status == 64)
        try await fleet.stop()
    }

    @Test func `explain shows an opt-out, and the manners of the job that it has ended`() async throws {
        let fleet = try await Self.start(files: 1, "location = /noai { add_header X-Robots-Tag noai; return 200 text; }")
        let url = fleet.origin.url("/noai")
        for (batch, words) in [("takes", ["--opt-outs", "ignore"]), ("heeds", Self.obey)] {
            _ = try await fleet.text(["enqueue", url, "--batch", batch] + words)
            #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection).status == 0)
        }
        let text = try await fleet.text(["explain", url])
        #expect(text.contains("\nopt-out  X-Robots-Tag: noai: batches that heed opt-outs do not get the body\n"), "\(text)")
        #expect(text.contains("\njob      of the batch 'heeds', which obeys robots.txt, heeds opt-outs; given up: The site"), "\(text)")
        let json = try await fleet.json(["explain", url])
        #expect((json["outcome"] as? [String: Any])?["optOut"] as? String == "X-Robots-Tag: noai")
        let job = try #require(json["job"] as? [String: Any])
        #expect(job["batch"] as? String == "heeds" && job["optOuts"] as? String == "heed")
        try await fleet.stop()
    }

    @Test(arguments: [("return 699;", "HTTP has no meaning for"), ("return 500;", "The server answered 500")])
    func `a robots.txt that cannot be read is the reason in the row of a URL that was not requested`(
        robots: String, reason: String
    ) async throws {
        let fleet = try await Self.start(robots: robots, files: 1)
        let words = fleet.run + Self.obey + ["--retries", "1"]
        let outcome = try await fleet.outcome(words)
        #expect(outcome.status == 1, "\(outcome.output)\(outcome.errors)")
        let error = Self.error(try #require(try Self.manifest(fleet).first))
        #expect(error.hasPrefix("http-500: The server answered 500 (\(fleet.origin.url("/robots.txt")))"), "\(error)")
        #expect(error.contains(reason), "\(error)")
        #expect(
            error.hasSuffix("; the robots.txt of the site could not be read, so \(fleet.origin.urls[0]) was not requested."), "\(error)")
        #expect(try await fleet.requests()["/0.bin"] == nil)
        try await fleet.stop()
    }
}
