import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct FleetTests {
    @Test func `three workers share the enqueued jobs, and request each URL once`() async throws {
        let fleet = try await Fleet.start(files: 200)
        let enqueued = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        #expect(enqueued.status == 0)
        #expect(enqueued.output.hasPrefix("Accepted 200 URLs; 0 invalid. Batch: "))
        #expect(enqueued.errors == "")
        let again = try await fleet.outcome(["enqueue", "-i", fleet.list, "nothing"] + fleet.connection)
        #expect(again.status == 1)
        #expect(again.output.hasPrefix("Accepted 200 URLs; 1 invalid. Batch: "))

        let workers = try (0..<3).map { _ in try fleet.start(fleet.work + ["--concurrency", "4"]) }
        for worker in workers {
            #expect(try await worker.exitStatus == .exited(0))
            try await worker.errors.finished()
            #expect(worker.errors.text == "gannet: working on the queue 'default'; Ctrl-C finishes what is in flight and ends.\n")
        }
        try fleet.expectAllBodies()
        #expect(try await fleet.requests() == Dictionary(uniqueKeysWithValues: fleet.origin.files.map { ($0.path, 1) }))
        let status = try await fleet.outcome(["status"] + fleet.connection)
        #expect(status.output.contains("\n" + fleet.row("done", "400 (200 fetched, 200 there already; ")), "\(status.output)")
        try await fleet.stop()
    }

    @Test func `jobs of a killed worker are fetched by the others`() async throws {
        let fleet = try await Fleet.start(files: 100)
        let gate = try fleet.gateList(after: 10)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        let words = fleet.work + ["--concurrency", "2", "--lease", "1s"]
        let victim = try await fleet.start(words, untilFetched: 10)
        try await gate.accepted(2)
        let others = try (0..<2).map { _ in try fleet.start(words) }
        victim.kill()
        for worker in others { #expect(try await worker.exitStatus == .exited(0)) }
        try fleet.removeTemporaryFiles()
        try fleet.expectAllBodies()
        let status = try await fleet.outcome(["status"] + fleet.connection)
        #expect(status.output.contains("\n" + fleet.row("done", "102 (102 fetched, 0 there already; ")))
        #expect(status.output.contains("\n" + fleet.row("failed", "0\n")))
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a worker that ends because jobs are missing is no success`() async throws {
        let fleet = try await Fleet.start(.keys, files: 2)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        _ = try await fleet.redis.command("HINCRBY", "{gannet}q:default:queue", "enqueued", "1")
        let outcome = try await fleet.outcome(fleet.work)
        #expect(outcome.status == 69)
        #expect(
            outcome.errors.contains(
                "gannet: the jobs that are left are missing from the queue: Redis has lost them, or they were damaged; 'gannet doctor' tells more\n"
            ))
        #expect(outcome.output.hasPrefix("This worker: 2 fetched, 0 failed, "))
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `status shows the queue as text and as JSON`() async throws {
        let fleet = try await Fleet.start(files: 4)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list, fleet.origin.url("/nothing")] + fleet.connection)
        let before = try await fleet.outcome(["status"] + fleet.connection)
        #expect(before.status == 0 && before.errors == "")
        let rows = before.output.split(separator: "\n")
        let first = [("queue", "default"), ("progress", "0%: 0 of 5 ended")].map { fleet.row($0, $1) }
        #expect(rows.map(String.init).starts(with: first + [String(rows[2])] + ["active", "parked", "delayed"].map { fleet.row($0, "0") }))
        #expect(rows[2].hasPrefix(fleet.row("ready", "5 (the oldest for ")))
        #expect(rows[6] == fleet.row("done", "0 (0 fetched, 0 there already; 0 B)"))
        #expect(try await fleet.outcome(fleet.work).status == 0)

        let outcome = try await fleet.outcome(["status", "--json"] + fleet.connection)
        #expect(outcome.output.hasSuffix("}\n") && outcome.output.count { $0 == "\n" } == 1)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(json["schema"] as? Int == 1)
        #expect(json["queue"] as? String == "default")
        let names: Set = [
            "schema", "queue", "paused", "jobs", "otherQueues", "oldestReadySeconds", "totals", "rate", "etaSeconds", "workers", "waits",
            "partitions", "redis",
            "failures", "hosts", "heldBatches",
        ]
        #expect(Set(json.keys) == names)
        let jobs = try #require(json["jobs"] as? [String: Any])
        #expect(Set(jobs.keys) == ["ready", "active", "parked", "delayed", "dead"])
        let totals = try #require(json["totals"] as? [String: Any])
        #expect(
            Set(totals.keys) == [
                "enqueued", "done", "fetched", "revalidated", "cached", "failed", "cancelled", "retried", "crashed", "fenced",
                "doubleFetches", "bytes", "disallowed",
            ])
        #expect(totals["enqueued"] as? Int == 5 && totals["done"] as? Int == 4 && totals["failed"] as? Int == 1)
        #expect(totals["bytes"] as? Int == fleet.origin.files.reduce(0) { $0 + $1.size })
        let rate = try #require(json["rate"] as? [String: Any])
        #expect(Set(rate.keys) == ["donePerSecond", "bytesPerSecond"])
        let redis = try #require(json["redis"] as? [String: Any])
        #expect(Set(redis.keys) == ["version", "usedMemoryBytes", "maxMemoryBytes", "pingMilliseconds"])
        #expect(redis["version"] as? String == fleet.store.nodes[0].version)
        try await fleet.stop()
    }

    @Test func `a Redis that cannot be reached, or asks for another password, is exit 69 and one sentence`() async throws {
        let fleet = try await Fleet.start(.setUp, files: 2) {
            $0.arguments = ["--requirepass", "right-secret"]
            $0.listensOnTCP = true
        }
        let port = try #require(fleet.redis.port)
        let password = try fleet.folder.write(Array("wrong-secret\n".utf8), to: "password")
        let connections = [
            (["--redis", "unix://\(fleet.folder.path)/none.sock"], "cannot be reached"),
            (["--redis", "redis://:wrong-secret@127.0.0.1:\(port)"], "refused the user or password"),
            (["--redis", "redis://127.0.0.1:\(port)", "--redis-password-file", password], "refused the user or password"),
            (["--redis", "redis://127.0.0.1:\(port)"], "asks for a password"),
        ]
        for (connection, sentence) in connections {
            for words in [
                ["run", "-i", fleet.list, "-d", fleet.out], ["enqueue", "http://h/"], ["work", "--store", fleet.out], ["status"],
            ] {
                let outcome = try await fleet.outcome(words + connection + ["--verbose"])
                #expect(outcome.status == 69)
                #expect(outcome.errors.hasPrefix("Error: Redis at ") && outcome.errors.contains(sentence), "\(outcome.errors)")
                #expect(outcome.errors.count { $0 == "\n" } == 1)
                #expect(outcome.output == "")
                #expect(!outcome.errors.contains("wrong-secret"))
            }
        }
        try fleet.folder.write(Array("right-secret\n".utf8), to: "password")
        let right = try await fleet.outcome(["status", "--redis", "redis://127.0.0.1:\(port)", "--redis-password-file", password])
        #expect(right.status == 0 && !(right.output + right.errors).contains("secret"))
        try await fleet.redis.stop()
        try await fleet.origin.stop()
    }

    @Test func `a Redis that may drop jobs is refused`() async throws {
        let fleet = try await Fleet.start(.setUp, files: 2) {
            $0.arguments = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]
        }
        for words in [fleet.run, fleet.work, ["enqueue", "http://h/"] + fleet.connection] {
            let outcome = try await fleet.outcome(words)
            #expect(outcome.status == 69)
            #expect(outcome.errors.contains("drops keys when it is full (maxmemory-policy allkeys-lru): jobs would be lost."))
        }
        try await fleet.stop()
    }
}
