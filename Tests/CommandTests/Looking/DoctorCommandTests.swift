import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct DoctorCommandTests {
    @Test func `drift is reported with its meaning, and mended on request`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n")
        // The jobs of a host are one element of the list.
        _ = try await fleet.text(["enqueue", "http://a/1", "http://a/2", "http://b/1", "http://b/2", "http://b/3", "--batch", "b"])
        _ = try await fleet.redis.command("LPOP", "{gannet}q:default:ready:normal")

        let found = try await fleet.outcome(["doctor"] + fleet.connection)
        #expect(found.status == 1)
        #expect(
            found.output.hasPrefix(
                "3 accepted jobs that are missing from the queue\n    such as of batch 1 of the queue default: 3\n    Redis has lost them, "
            )
        )
        #expect(found.errors == "gannet: 'gannet doctor --fix' mends this.\n")
        let refused = try await fleet.outcome(["doctor", "--fix"] + fleet.connection)
        #expect(refused.status == 64)

        let fixed = try await fleet.json(["doctor", "--fix", "--yes"])
        let findings = try #require(fixed["findings"] as? [[String: Any]])
        #expect(findings.map { $0["kind"] as? String } == ["jobsLost"])
        #expect(findings.allSatisfy { $0["mended"] as? Bool == true })
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        #expect(try await fleet.json(["batch", "show", "b"])["failed"] as? Int == 3)
        try await fleet.stop()
    }

    @Test func `one finding is named as one`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        _ = try await fleet.text(["enqueue", "http://a/1"])
        _ = try await fleet.redis.command("SET", "{gannet}q:default:dead", "x")
        let found = try await fleet.outcome(["doctor"] + fleet.connection)
        #expect(found.status == 1 && found.output.hasPrefix("1 key that holds a value of another type\n"), "\(found.output)")
        try await fleet.stop()
    }

    @Test func `outcomes whose bodies a fail-over has lost are found, and their URLs are fetched again once that is mended`() async throws {
        let fleet = try await Fleet.start(files: 10)
        try await fleet.fetchBatch()
        #expect(try await fleet.forgetBodies(most: 3) == 3)

        let found = try await fleet.json(["doctor"], status: 1)
        let findings = try #require(found["findings"] as? [[String: Any]])
        #expect(findings.map { $0["kind"] as? String } == ["outcomeWithoutBody"])
        #expect(findings.map { $0["count"] as? Int } == [3])
        _ = try await fleet.json(["doctor", "--fix", "--yes"])
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])

        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "again"])
        _ = try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection)
        #expect(try await fleet.requests().values.sorted() == Array(repeating: 1, count: 7) + Array(repeating: 2, count: 3))
        let exported = try await fleet.outcome(fleet.export)
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try fleet.exported().count == 10)
        try await fleet.stop()
    }

    @Test func `jobs that nothing leads to after a torn append-only file end once that is mended`() async throws {
        let fleet = try await Fleet.start(.keys, files: 20)
        // Jobs of a worker that dies, and jobs that wait for the same URLs.
        let gate = try fleet.gateList(after: 0)
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "a"])
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b"])
        let worker = try fleet.start(["work", "--concurrency", "4", "--lease", "1s"] + fleet.local + fleet.connection)
        try await gate.accepted(2)
        try await eventually("the other URLs are fetched, and jobs wait for the two") {
            let jobs = try await fleet.json(["status"])["jobs"] as? [String: Any]
            return jobs?["parked"] as? Int == 2 && jobs?["active"] as? Int == 2
        }
        worker.signal(SIGKILL)
        _ = try await worker.exitStatus
        _ = try await fleet.redis.command("DEL", "{gannet}leases")
        _ = try await fleet.redis.command("DEL", "{gannet}q:default:timers:normal")
        #expect(try await fleet.forget("{gannet}holder:", most: 1) == 1)

        #expect(try await fleet.outcome(["doctor"] + fleet.connection).status == 1)
        _ = try await fleet.json(["doctor", "--fix", "--yes"])
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        let outcome = try await fleet.outcome(["work", "--until-empty"] + fleet.local + fleet.connection)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let totals = try #require(try await fleet.json(["status"])["totals"] as? [String: Any])
        #expect(totals["done"] as? Int == 44 && totals["crashed"] as? Int == 0, "\(totals)")
        try await gate.stop()
        try await fleet.stop()
    }

    @Test(
        arguments: ["status", "status --json", "doctor", "batch list", "batch show b", "batch wait b", "export --batch b -d out"]
            + ["jobs list", "explain http://a/1", "workers list", "hosts list", "doctor --fix --yes", "purge --yes"])
    func `a command that looks at a new namespace fixes no number of partitions`(words: String) async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        let outcome = try await fleet.outcome(words.split(separator: " ").map(String.init) + fleet.connection)
        #expect([0, 64].contains(outcome.status), "\(outcome.errors)")
        #expect(try await fleet.redis.command("DBSIZE") == .integer(0))
        try await fleet.stop()
    }

    @Test func `a lost schema stops commands, and doctor says how to set it`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        _ = try await fleet.text(["enqueue", "--partitions", "4", "--batch", "b"] + (0..<40).map { "http://h\($0)/" })
        _ = try await fleet.redis.command("DEL", "{gannet}schema")
        for words in [
            ["status"], ["batch", "wait", "b"], ["jobs", "list"], ["explain", "http://h1/"],
            ["enqueue", "http://h1/2"], ["work", "--until-empty"], ["purge", "--yes"], ["pause"],
        ] {
            let outcome = try await fleet.outcome(words + fleet.connection)
            #expect(outcome.status == 69 && outcome.errors.hasPrefix("Error: The key '{gannet}schema' is gone"), "\(outcome.errors)")
        }
        let found = try await fleet.json(["doctor", "--fix", "--yes"], status: 1)
        let finding = try #require((found["findings"] as? [[String: Any]])?.first)
        #expect(finding["kind"] as? String == "schemaLost")
        #expect(finding["example"] as? String == "'{gannet}schema': keys of partitions up to 3 are there")
        #expect(try await fleet.redis.command("EXISTS", "{gannet}schema") == .integer(0))
        // Another program has used the namespace meanwhile, with the usual number.
        _ = try await fleet.redis.command("SET", "{gannet}schema", "4/1")
        let less = try await fleet.outcome(["doctor"] + fleet.connection)
        #expect(
            less.status == 1
                && less.output.hasPrefix(
                    "3 partitions that the schema does not name\n    such as '{gannet:3}', where '{gannet}schema' names 1\n"),
            "\(less.output)")
        _ = try await fleet.redis.command("SET", "{gannet}schema", "4/4")
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n")
        try await fleet.stop()
    }

    @Test func `the lost queues of partition 0 are found, and their lists can be enqueued again`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        let enqueue = ["enqueue", "--partitions", "4", "--batch", "b"] + (0..<40).map { "http://h\($0)/" }
        _ = try await fleet.text(enqueue)
        #expect(try await fleet.forget("{gannet}q", most: 1000) > 0)
        let found = try await fleet.json(["doctor"], status: 1)
        let finding = try #require((found["findings"] as? [[String: Any]])?.first)
        #expect(finding["kind"] as? String == "homeLost" && finding["example"] as? String == "default", "\(finding)")
        #expect(try await fleet.outcome(enqueue + fleet.connection).status == 0)
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        try await fleet.stop()
    }

    @Test(arguments: ["enqueued", "done", "failed", "cancelled", "active", "parked", "delayed", "fetched", "bytes", "kept"])
    func `a counter that is no number is named by commands, and doctor says what to do`(field: String) async throws {
        let fleet = try await Fleet.start(.keys, files: 3)
        try await fleet.fetchBatch()
        _ = try await fleet.text(["enqueue", "http://h/1", "http://h/2", "--batch", "more"])
        let before = try await fleet.json(["status"])["totals"] as? [String: Int]
        let right = try await fleet.redis.command("HGET", "{gannet}q:default:queue", field).text ?? "0"
        _ = try await fleet.redis.command("HSET", "{gannet}q:default:queue", field, "x7")
        for words in field == "kept" ? [] : [["status"], ["purge", "--yes"]] {
            let outcome = try await fleet.outcome(words + fleet.connection)
            #expect(
                outcome.status == 69
                    && outcome.errors.hasPrefix("Error: The key '{gannet}q:default:queue' holds a counter or a clock that is no number"),
                "\(words) \(outcome.errors)")
        }
        // A queue may be paused all the same.
        for word in ["pause", "resume"] { _ = try await fleet.text([word]) }
        let found = try await fleet.json(["doctor"], status: 1)
        let finding = try #require((found["findings"] as? [[String: Any]])?.first)
        #expect(finding["kind"] as? String == "counterDamaged")
        #expect(finding["example"] as? String == "'\(field)' of '{gannet}q:default:queue'")
        #expect((finding["meaning"] as? String)?.contains("redis-cli HSET") == true && finding["mendable"] as? Bool == false)
        _ = try await fleet.json(["doctor", "--fix", "--yes"], status: 1)
        #expect(try await fleet.redis.command("HGET", "{gannet}q:default:queue", field).text == "x7")
        _ = try await fleet.redis.command("HSET", "{gannet}q:default:queue", field, right)
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        #expect(try await fleet.json(["status"])["totals"] as? [String: Int] == before)
        #expect(try await fleet.outcome(["purge", "--yes"] + fleet.connection).status == 0)
        try await fleet.stop()
    }

    @Test func `counters of a batch and its number that are no numbers are named`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        _ = try await fleet.text(["enqueue", "http://h/1", "http://h/2", "--batch", "b"])
        for field in ["total", "disallowed"] { _ = try await fleet.redis.command("HSET", "{gannet}q:default:batch:1", field, "x") }
        _ = try await fleet.redis.command("HSET", "{gannet}state", "batches", "x")
        #expect(try await fleet.outcome(["enqueue", "http://h/3", "--batch", "c"] + fleet.connection).status == 69)
        let found = try await fleet.json(["doctor", "--fix", "--yes"], status: 1)
        let finding = try #require((found["findings"] as? [[String: Any]])?.first)
        #expect(finding["kind"] as? String == "counterDamaged" && finding["count"] as? Int == 3, "\(found)")
        for field in ["total", "disallowed"] { _ = try await fleet.redis.command("HDEL", "{gannet}q:default:batch:1", field) }
        let last = try await fleet.outcome(["doctor"] + fleet.connection)
        #expect(last.output.contains("    such as 'batches' of '{gannet}state', which is at least 1\n"), "\(last.output)")
        _ = try await fleet.redis.command("HSET", "{gannet}state", "batches", "1")
        _ = try await fleet.json(["doctor", "--fix", "--yes"])
        #expect(try await fleet.json(["batch", "show", "b"])["total"] as? Int == 2)
        _ = try await fleet.text(["enqueue", "http://h/3", "--batch", "c"])
        #expect(try await fleet.json(["doctor"])["findings"] as? [String] == [])
        try await fleet.stop()
    }

    @Test func `a clock that is no clock is named, and another namespace goes on`() async throws {
        let fleet = try await Fleet.start(.keys, files: 3)
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b"])
        _ = try await fleet.redis.command("HSET", "{gannet}state", "clock", "noon")
        for words in [["status"], ["purge", "--yes"], ["enqueue", "http://h/1", "--batch", "c"]] {
            let outcome = try await fleet.outcome(words + fleet.connection)
            #expect(outcome.status == 69 && outcome.errors.contains("The key '{gannet}state' holds"), "\(words) \(outcome.errors)")
        }
        let found = try await fleet.json(["doctor"], status: 1)
        let kinds = (found["findings"] as? [[String: Any]])?.map { $0["kind"] as? String }
        #expect(kinds == ["clockDamaged", "notChecked"])
        let other = ["--namespace", "other"] + fleet.connection
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", "b"] + other).status == 0)
        #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + other).status == 0)
        try await fleet.stop()
    }

    @Test(arguments: ["", "J0123456789", "D01234567890123456789012345678901234567890123456789"])
    func `damaged jobs are named by doctor, workers tell that they are missing, and they end as lost`(element: String) async throws {
        let fleet = try await Fleet.start(.keys, files: 3)
        _ = try await fleet.text(["enqueue", "http://h/1", "http://h/2", "--batch", "lost"])
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b"])
        _ = try await fleet.redis.command("LSET", "{gannet}q:default:ready:normal", "0", element)
        let found = try await fleet.outcome(["doctor"] + fleet.connection)
        #expect(
            found.status == 1
                && found.output.hasPrefix("1 record that cannot be read\n    such as jobs in '{gannet}q:default:ready:normal'\n"),
            "\(found)"
        )
        #expect(found.errors == "gannet: 'gannet doctor --fix' mends some of it.\n")
        let stopped = try await fleet.outcome(fleet.work)
        #expect(stopped.status == 69, "\(stopped.errors)")
        #expect(stopped.errors.contains("gannet: the jobs that are left are missing from the queue"), "\(stopped.errors)")
        _ = try await fleet.json(["doctor", "--fix", "--yes"])
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n")
        #expect(try await fleet.json(["batch", "show", "lost"])["failed"] as? Int == 2)
        #expect(try await fleet.outcome(fleet.work).status == 0)
        try await fleet.stop()
    }

    @Test(arguments: [["q:default:queue", "done"], ["q:default:batch:1", "priority"], ["hosts", "host"], ["state", "sweep"]])
    func `a damaged value ends no worker for good`(place: [String]) async throws {
        let fleet = try await Fleet.start(.keys, files: 3)
        let place = place.map { $0 == "host" ? fleet.host : $0 }
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--batch", "b"])
        let right = try await fleet.redis.command("HGET", "{gannet}" + place[0], place[1]).text
        _ = try await fleet.redis.command("HSET", "{gannet}" + place[0], place[1], "nan")
        let first = try await fleet.outcome(fleet.work)
        // Without this counter nobody knows when the queue has ended.
        #expect(first.status == (place[1] == "done" ? 69 : 0), "\(first.errors)")
        if first.status != 0 { #expect(first.errors.contains("Error: The key '{gannet}\(place[0])' holds a counter"), "\(first.errors)") }
        if let right { _ = try await fleet.redis.command("HSET", "{gannet}" + place[0], place[1], right) }
        if right == nil { _ = try await fleet.redis.command("HDEL", "{gannet}" + place[0], place[1]) }
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n")
        #expect(try await fleet.outcome(fleet.work).status == 0)
        try fleet.expectAllBodies()
        try await fleet.stop()
    }

    @Test func `a part that could not be checked is a finding that is left`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        _ = try await fleet.text(["enqueue", "http://h/1", "--batch", "b"])
        // More jobs than are counted in one step.
        let script = "for i = 1, 51 do local t = {} for j = 1, 1000 do t[j] = 't' end redis.call('RPUSH', KEYS[1], unpack(t)) end return 1"
        _ = try await fleet.redis.command("EVAL", script, "1", "{gannet}q:default:ready:normal")
        for words in [["doctor"], ["doctor", "--fix", "--yes"]] {
            let outcome = try await fleet.outcome(words + fleet.connection)
            #expect(outcome.status == 1 && outcome.errors == "", "\(outcome)")
            #expect(outcome.output.hasPrefix("1 part of the state that could not be checked\n"), "\(outcome.output)")
        }
        try await fleet.stop()
    }

    @Test func `bodies that made room for others are a note, and no finding that is left`() async throws {
        let fleet = try await Fleet.start(.keys, files: 4)
        try await fleet.fetchBatch()
        _ = try await fleet.redis.command("HSET", "{gannet:blob}count", "evicted", "3")
        #expect(try await fleet.forgetBodies(most: 3) == 3)
        let found = try await fleet.outcome(["doctor"] + fleet.connection)
        #expect(found.status == 0 && found.errors == "", "\(found)")
        #expect(found.output.hasPrefix("3 outcomes whose bodies are no longer in Redis\n"), "\(found.output)")
        _ = try await fleet.json(["doctor", "--fix", "--yes"])
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n")
        try await fleet.stop()
    }
}
