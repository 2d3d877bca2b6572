import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct JobsCommandTests {
    @Test func `jobs are listed page by page`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("list", 0..<7)])
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("first", 7..<9), "--priority", "high"])
        var (urls, cursor, pages) = ([String](), String?.none, 0)
        repeat {
            let words = ["jobs", "list", "--state", "ready", "--limit", "4"] + (cursor.map { ["--cursor", $0] } ?? [])
            let page = try await fleet.json(words)
            urls += try #require(page["jobs"] as? [[String: Any]]).compactMap { $0["url"] as? String }
            cursor = page["cursor"] as? String
            pages += 1
        } while cursor != nil && pages < 9
        #expect(urls == ([7, 8] + Array(0..<7)).map { "http://h/\($0)" })
        #expect((3...4).contains(pages))
        let all = try await fleet.outcome(["jobs", "list", "--state", "ready", "--limit", "4", "--all"] + fleet.connection)
        #expect(all.output.split(separator: "\n").count { $0.contains(" http://h/") } == 9)
        let some = try await fleet.outcome(["jobs", "list", "--limit", "2"] + fleet.connection)
        #expect(some.errors.contains("gannet: there are more ready jobs: '--state ready --cursor "))
        let none = try await fleet.outcome(["jobs", "list", "--state", "dead"] + fleet.connection)
        #expect(none.status == 0 && none.output == "" && none.errors == "gannet: there are no such jobs in the queue 'default'.\n")
        let unknown = try await fleet.outcome(["jobs", "list", "--queue", "nix"] + fleet.connection)
        #expect(unknown.status == 0 && unknown.output == "")
        #expect(unknown.errors == "gannet: there is no queue 'nix': nothing was put into it, or it was purged.\n")
        try await fleet.stop()
    }

    @Test func `a URL in the place of a host is refused, and the host in it is named`() async throws {
        let fleet = try await Fleet.start(files: 1)
        for (host, name) in [("http://Example.org/", "example.org"), ("h/7", "h"), ("https://h:8443/?x", "h:8443")] {
            for words in [["jobs", "list"], ["jobs", "retry"], ["jobs", "delete", "--state", "ready", "--yes"]] {
                let outcome = try await fleet.outcome(words + ["--host", host] + fleet.connection)
                #expect(outcome.status == 64, "\(words): \(outcome)")
                #expect(
                    outcome.errors.hasPrefix("Error: A host is named without the rest of its URL: '--host \(name)'.\n"), "\(outcome.errors)"
                )
            }
        }
        let none = try await fleet.outcome(["jobs", "list", "--host", "http://"] + fleet.connection)
        #expect(none.status == 64 && none.errors.hasPrefix("Error: The value of '--host' is no host: name one such as 'example.com'."))
        try await fleet.stop()
    }

    @Test func `jobs name their batches, and the variable for the batch of enqueue leaves none of them out`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("one", 0..<3), "--batch", "one"])
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("two", 3..<5), "--batch", "two"])
        let listing = ["jobs", "list", "--state", "ready", "--json"] + fleet.connection
        let outcome = try await fleet.outcome(listing, with: ["GANNET_BATCH": "one"])
        let page = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.errors)")
        let jobs = try #require(page["jobs"] as? [[String: Any]])
        #expect(jobs.compactMap { $0["batch"] as? String }.sorted() == ["one", "one", "one", "two", "two"], "\(jobs)")
        let words = ["enqueue", "http://h/9"] + fleet.connection
        #expect(try await fleet.outcome(words, with: ["GANNET_BATCH": "three"]).output.contains("Batch: three"))
        try await fleet.stop()
    }

    @Test func `a dead job is listed with its reason, and can be tried again`() async throws {
        let fleet = try await Fleet.start(files: 2)
        _ = try await fleet.text(["enqueue", "-i", fleet.list, fleet.origin.url("/nothing"), "--batch", "b"])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        let page = try await fleet.json(["jobs", "list", "--state", "dead"])
        let dead = try #require(page["jobs"] as? [[String: Any]])
        #expect(dead.count == 1 && dead[0]["url"] as? String == fleet.origin.url("/nothing") && dead[0]["httpStatus"] as? Int == 404)
        #expect(dead[0]["failures"] as? Int == 1)
        #expect(try await fleet.text(["jobs", "list", "--state", "dead"]).contains("  1 failed  "))
        #expect(try await fleet.text(["jobs", "list", "--state", "failed"]).contains("  1 failed  "), "failed jobs are kept as dead ones")
        let error = try #require(dead[0]["error"] as? [String: String])
        let kind = try #require(error["class"])
        #expect(error["message"]?.contains("404") == true)
        #expect(try await fleet.text(["jobs", "list", "--class", "poison"]) == "")
        for word in [kind, "404", "4xx", "http-4xx"] {
            #expect(try await fleet.text(["jobs", "list", "--class", word]).contains("404"), "\(word)")
        }
        #expect(try await fleet.text(["jobs", "list", "--class", "poison", "--class", "4xx"]).contains("404"))
        #expect(
            try await fleet.text(["jobs", "retry", "--class", "dns", "--class", "http-500"])
                == "To be tried again: 0 dead jobs of the classes 'dns' or 'http-500' in the queue 'default'.\n")
        for word in ["5xx", "403", "3xx"] { #expect(try await fleet.text(["jobs", "list", "--class", word]) == "", "\(word)") }

        #expect(try await fleet.text(["jobs", "retry", "--dry-run"]) == "Would have been retried: 1 dead job in the queue 'default'.\n")
        #expect(try await fleet.json(["jobs", "retry", "--class", "http-500"])["count"] as? Int == 0)
        #expect(
            try await fleet.text(["jobs", "retry", "--class", kind])
                == "To be tried again: 1 dead job of the class '\(kind)' in the queue 'default'.\n")
        #expect(try await fleet.json(["batch", "show", "b"])["failed"] as? Int == 0)
        #expect(try await fleet.outcome(fleet.work).status == 0)
        #expect(try await fleet.requests()["/nothing"] == 2)
        #expect(try await fleet.json(["batch", "show", "b"])["failed"] as? Int == 1)
        try await fleet.stop()
    }

    @Test func `the jobs of a host are deleted, wherever they wait`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let (bad, good) = (try fleet.list("bad", 0..<1500, host: "bad"), try fleet.list("good", 0..<700, host: "good"))
        for (index, list) in [good, bad, good].enumerated() { _ = try await fleet.text(["enqueue", "-i", list, "--batch", "b\(index)"]) }
        let words = ["jobs", "delete", "--state", "ready", "--host", "BAD"]
        let refused = try await fleet.outcome(words + fleet.connection)
        #expect(refused.status == 64)
        #expect(refused.errors.hasPrefix("Error: 'jobs delete' loses jobs, and there is no terminal to ask at: say '--yes' to do it.\n"))
        #expect(try await fleet.json(words + ["--dry-run"])["count"] as? Int == 1500)
        #expect(try await fleet.text(words + ["--yes"]) == "Deleted: 1500 ready jobs of the host 'bad' in the queue 'default'.\n")
        #expect(try await fleet.json(["batch", "show", "b1"])["state"] as? String == "complete")
        let jobs = try await fleet.json(["status"])["jobs"] as? [String: Any]
        #expect(jobs?["ready"] as? Int == 1400)
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        try await fleet.stop()
    }

    @Test func `jobs are listed, tried again and deleted by their URL or by a part of it`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let (one, other) = (fleet.origin.url("/gone/ONE.jpg"), fleet.origin.url("/gone/other.png"))
        _ = try await fleet.text(["enqueue", one, other, fleet.origin.urls[0]])
        #expect(try await fleet.outcome(fleet.work).status == 0)
        func urls(_ words: [String]) async throws -> [String] {
            let outcome = try await fleet.outcome(["jobs", "list"] + words + ["--json"] + fleet.connection)
            #expect(outcome.status == 0, "\(outcome.errors)")
            return try outcome.output.split(separator: "\n").flatMap { line -> [String] in
                let page = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return (page?["jobs"] as? [[String: Any]] ?? []).compactMap { $0["url"] as? String }
            }
        }
        // Capital letters count as small ones.
        #expect(try await urls(["--state", "dead", "--text", "one.JPG"]) == [one])
        #expect(Set(try await urls(["--text", "/gone/"])) == [one, other])
        // Another spelling of the same URL is the same URL.
        #expect(try await urls(["--url", one + "#part"]) == [one])
        #expect(try await urls(["--url", one, "--text", "other"]) == [])
        #expect(
            try await fleet.text(["jobs", "retry", "--url", one, "--dry-run"])
                == "Would have been retried: 1 dead job of the URL '\(one)' in the queue 'default'.\n")
        let retried = try await fleet.json(["jobs", "retry", "--url", one])
        #expect(retried["count"] as? Int == 1 && retried["url"] as? String == one && retried["text"] is NSNull, "\(retried)")
        #expect(try await urls(["--state", "ready"]) == [one])
        #expect(
            try await fleet.text(["jobs", "delete", "--state", "dead", "--text", ".png", "--yes"])
                == "Deleted: 1 dead job with '.png' in its URL in the queue 'default'.\n")
        #expect(try await urls(["--state", "dead"]) == [])
        let elsewhere = try await fleet.outcome(["jobs", "list", "--url", one, "--host", "h"] + fleet.connection)
        #expect(
            elsewhere.status == 64 && elsewhere.errors.contains("has the host '\(fleet.host)': leave '--host' out."), "\(elsewhere.errors)")
        let none = try await fleet.outcome(["jobs", "retry", "--url", "ftp://h/"] + fleet.connection)
        #expect(none.status == 64 && none.errors.hasPrefix("Error: This is no URL that can be fetched"), "\(none.errors)")
        try await fleet.stop()
    }

    @Test func `a batch and a URL find jobs in any state, and delete them`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "http://h/1", "http://h/2", "--batch", "a"])
        _ = try await fleet.text(["enqueue", "http://h/1", "http://h/3", "--batch", "b", "--delay", "1h"])
        let listed = try await fleet.text(["jobs", "list", "--batch", "b"])
        #expect(listed.contains("http://h/3") && !listed.contains("http://h/2"), "\(listed)")
        let one = ["jobs", "delete", "--url", "http://h/1", "--yes"]
        #expect(
            try await fleet.text(one + ["--batch", "b"])
                == "Deleted: 1 job of the URL 'http://h/1' of the batch 'b' in the queue 'default'.\n")
        _ = try await fleet.text(["enqueue", "http://h/1", "--batch", "c", "--delay", "1h"])
        let both = try await fleet.json(one)
        #expect(both["count"] as? Int == 2 && both["state"] is NSNull && both["batch"] is NSNull, "\(both)")
        #expect(try await fleet.json(["jobs", "delete", "--state", "ready", "--batch", "a", "--yes"])["count"] as? Int == 1)
        let unknown = try await fleet.outcome(["jobs", "list", "--batch", "nix"] + fleet.connection)
        #expect(unknown.status == 64 && unknown.errors.contains("There is no batch 'nix' in the queue 'default'"), "\(unknown)")
        try await fleet.stop()
    }

    @Test(
        "A change that jobs do not allow is exit 64 and says why",
        arguments: [
            ("delete --yes", "Say which jobs to delete: by their '--state', or those of one '--url'."),
            ("delete --state active --yes", "use 'ready', 'parked', 'delayed' or 'dead'"),
            ("retry --state ready", "use 'dead' or 'delayed'"),
            ("list --state ready --class dns", "Only dead jobs have a class"),
            ("list --class timeuot", "'timeuot' is invalid for '--class <class>': there is no such class. Did you mean 'timeout'?"),
            ("retry --class nonsense", "'nonsense' is invalid for '--class <class>': there is no such class; '--help' lists them."),
            ("delete --state dead --class http-99 --yes", "there is no such class"),
            ("retry --class 6xx", "there is no such class"), ("retry --class 44", "there is no such class"),
            ("list --cursor 0-", "'--cursor' needs the '--state' of its page"),
            ("list --state sleeping", "use 'ready', 'active', 'parked', 'delayed' or 'dead'"),
        ])
    func refusals(words: String, sentence: String) async throws {
        let outcome = try await Program(home: "/dev/null/none").run(["jobs"] + words.split(separator: " ").map(String.init))
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    }

    @Test func `a text that is not a cursor is refused`() async throws {
        let fleet = try await Fleet.start(files: 1)
        for cursor in ["x", "0", "0-abc", "-0-", "99999999999999999999-", "0-zz"] {
            let outcome = try await fleet.outcome(["jobs", "list", "--state", "ready", "--cursor=\(cursor)"] + fleet.connection)
            #expect(outcome.status == 64, "\(cursor)")
        }
        try await fleet.stop()
    }
}
