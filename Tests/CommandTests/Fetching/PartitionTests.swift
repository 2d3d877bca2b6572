import Foundation
import GannetTestKit
import Testing

/// A namespace of four partitions on one Redis: twenty hosts, so that each partition has some.
@Suite(.timeLimit(.minutes(3))) struct PartitionTests {
    private static let hosts = (1...20).map { "127.0.0.\($0)" }

    private func start(files: Int = 20) async throws -> (fleet: Fleet, urls: [String]) {
        let fleet = try await Fleet.start(.partitions) {
            $0.fileCount = files
            $0.largestFile = 2000
            $0.addresses = Self.hosts
            $0.directives = "expires 1h; location = /nothing { return 404; }"
        }
        let urls = Self.hosts.flatMap { host in fleet.origin.files.map { "http://\(host):\(fleet.origin.port)\($0.path)" } }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        return (fleet, urls)
    }

    private func jobs(_ fleet: Fleet) async throws -> [String: Int] {
        try #require(try await fleet.json(["status"])["jobs"] as? [String: Int])
    }

    @Test func `four partitions are fed, fetched, listed, explained and exported as one`() async throws {
        let (fleet, urls) = try await start()
        // A name of the library's own for the namespace's partitions would be a second truth: Redis has the number.
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b", "--partitions", "4"])
        #expect(try await fleet.redis.command("GET", "{gannet}schema").text == "4/4")
        for tag in ["{gannet}", "{gannet:1}", "{gannet:2}", "{gannet:3}"] {
            #expect(try await fleet.redis.command("LLEN", "\(tag)q:default:ready:normal") != .integer(0), "\(tag)")
        }
        #expect(try await jobs(fleet)["ready"] == 400)

        var (listed, cursor) = (Set<String>(), String?.none)
        repeat {
            let page = try await fleet.json(
                ["jobs", "list", "--state", "ready", "--limit", "150"] + (cursor.map { ["--cursor", $0] } ?? []))
            let found = try #require(page["jobs"] as? [[String: Any]]).compactMap { $0["url"] as? String }
            #expect(listed.isDisjoint(with: found))
            listed.formUnion(found)
            cursor = page["cursor"] as? String
        } while cursor != nil
        #expect(listed == Set(urls))
        for url in [urls[0], urls[399]] {
            let id = try #require(try await fleet.json(["explain", url])["id"] as? String)
            #expect(try await fleet.text(["explain", String(id.prefix(12))]).hasPrefix("url      \(url)\n"))
        }

        // A paused queue is paused in each partition.
        #expect(try await fleet.text(["pause"]).hasPrefix("Paused the queue"))
        let words = ["work", "--until-empty", "--concurrency", "8"] + fleet.local + fleet.connection
        let workers = try (0..<2).map { _ in try fleet.start(words) }
        for worker in workers { _ = try await worker.errors.line { $0.contains("working on the queue") } }
        try await eventually("both workers are there") {
            (try await fleet.json(["status"])["workers"] as? [[String: Any]])?.count == 2
        }
        #expect(try await fleet.requests().isEmpty)
        _ = try await fleet.text(["resume"])
        for worker in workers { #expect(try await worker.exitStatus == .exited(0)) }
        #expect(try await fleet.origin.requests().count == 400)

        let status = try await fleet.json(["status"])
        let totals = try #require(status["totals"] as? [String: Any])
        #expect(totals["enqueued"] as? Int == 400 && totals["done"] as? Int == 400 && totals["fetched"] as? Int == 400)
        let batch = try await fleet.json(["batch", "show", "b"])
        #expect(batch["done"] as? Int == 400 && batch["state"] as? String == "complete")
        let explained = try await fleet.json(["explain", urls[210]])
        #expect((explained["outcome"] as? [String: Any])?["sha256"] as? String == fleet.origin.files[10].sha256)

        #expect(try await fleet.outcome(fleet.export).status == 0)
        let lines = try fleet.exported()
        #expect(lines.count == 400 && Set(lines.compactMap(\.url)) == Set(urls))
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        try await fleet.stop()
    }

    @Test func `cancel, purge, retry, delete and rules reach every partition`() async throws {
        let (fleet, _) = try await start(files: 5)
        let nothing = Self.hosts.map { "http://\($0):\(fleet.origin.port)/nothing" }
        _ = try await fleet.text(["enqueue", "--batch", "dead", "--partitions", "4"] + nothing)
        #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection).status == 0)
        #expect(try await jobs(fleet)["dead"] == 20)
        #expect(try await fleet.text(["jobs", "retry"]) == "To be tried again: 20 dead jobs in the queue 'default'.\n")
        #expect(try await jobs(fleet)["ready"] == 20)
        #expect(
            try await fleet.text(["jobs", "delete", "--state", "ready", "--yes"]) == "Deleted: 20 ready jobs in the queue 'default'.\n")

        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "first"])
        #expect(try await fleet.text(["batch", "cancel", "first"]) == "Cancelled 100 jobs.\n")
        #expect(try await fleet.json(["batch", "show", "first"])["state"] as? String == "cancelled")
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "second"])
        let purged = try await fleet.text(["purge", "--yes"])
        #expect(purged == "Removed from the queue 'default': 100 jobs that have not ended, 0 dead, and the totals.\n")
        for tag in ["{gannet", "{gannet:1", "{gannet:2", "{gannet:3"] {
            #expect(try await fleet.redis.command("KEYS", "\(tag)}q:*") == .list([]), "\(tag)")
        }

        // A rule for a domain is known in each partition.
        _ = try await fleet.text(["hosts", "set", "*.example.com", "--limit", "3"])
        for host in (0..<12).map({ "h\($0).example.com" }) {
            let explained = try await fleet.json(["explain", "http://\(host)/"])
            #expect((explained["host"] as? [String: Any])?["limit"] as? Int == 3, "\(host)")
        }
        #expect((try await fleet.json(["hosts", "list"])["rules"] as? [[String: Any]])?.count == 1)
        _ = try await fleet.text(["hosts", "clear", "*.example.com"])
        #expect((try await fleet.json(["hosts", "list"])["rules"] as? [[String: Any]])?.count == 0)
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        try await fleet.stop()
    }

    @Test func `a run and a caller without a queue use the partitions that are there`() async throws {
        let (fleet, urls) = try await start(files: 5)
        #expect(try await fleet.outcome(fleet.run + ["--partitions", "4"]).status == 0)
        #expect(try await fleet.origin.requests().count == 100)
        // Ids of URLs are bytes, so a shorter pattern could match an outcome.
        #expect(try await fleet.redis.command("KEYS", "{gannet*}q:*") == .list([]))
        // The run kept its bodies in a folder, so the first caller asks the origin for this one.
        let url = urls[57]
        let file = fleet.origin.files[2]
        for number in 0..<3 {
            let path = fleet.folder.file("body\(number)")
            let one = try await fleet.outcome(["get", "--fetch", url, "-o", path] + fleet.local + fleet.connection)
            #expect(one.status == 0, "\(one.errors)")
            #expect(sha256(of: try contents(ofFile: path)) == file.sha256)
        }
        let requests = try await fleet.origin.requests().count
        #expect(requests == 101)
        let refreshed = ["get", "--fetch", "--refresh", url, "-o", fleet.folder.file("fresh")] + fleet.local + fleet.connection
        #expect(try await fleet.outcome(refreshed).status == 0)
        #expect(try await fleet.origin.requests().count == 102)
        try await fleet.stop()
    }

    @Test func `the number of partitions is fixed by the first use, and by no command that only looks`() async throws {
        let fleet = try await Fleet.start(.partitions, files: 1)
        for words in [["status"], ["jobs", "list"], ["batch", "list"], ["explain", "http://h/"], ["doctor"], ["hosts", "list"]] {
            #expect(try await fleet.outcome(words + fleet.connection).status == 0, "\(words)")
        }
        #expect(try await fleet.redis.command("DBSIZE") == .integer(0))
        _ = try await fleet.text(["enqueue", "http://h/", "--partitions", "3"])
        let sentence =
            "Error: The namespace 'gannet' has 3 partitions, which never changes: ask for that number, for none, or for another namespace.\n"
        for words in [["enqueue", "http://h/"], ["work", "--until-empty"], ["run", "http://h/", "-d", fleet.out]] {
            let refused = try await fleet.outcome(words + ["--partitions", "4"] + fleet.connection)
            #expect(refused.status == 64 && refused.errors == sentence, "\(words): \(refused.errors)")
        }
        _ = try await fleet.text(["enqueue", "http://h/", "--partitions", "3"])
        _ = try await fleet.text(["enqueue", "http://h/"])
        let elsewhere = try await fleet.outcome(
            ["enqueue", "http://h/", "--namespace", "n"] + fleet.connection, with: ["GANNET_PARTITIONS": "5"])
        #expect(elsewhere.status == 0)
        #expect(try await fleet.redis.command("GET", "{n}schema").text == "4/5")
        for number in ["0", "65", "x"] {
            let refused = try await fleet.outcome(["enqueue", "http://h/", "--partitions", number] + fleet.connection)
            #expect(refused.status == 64 && refused.errors.contains("use a whole number from 1 to 64"), "\(number)")
        }
        try await fleet.stop()
    }
}
