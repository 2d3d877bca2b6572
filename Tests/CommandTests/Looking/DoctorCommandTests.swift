import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct DoctorCommandTests {
    @Test func `drift is reported with its meaning, and mended on request`() async throws {
        let fleet = try await Fleet.start(.keys, files: 1)
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n")
        // The jobs of a host are one element of the list.
        _ = try await fleet.text(["enqueue", "http://a/1", "http://a/2", "http://b/1", "http://b/2", "http://b/3", "--batch", "b"])
        _ = try await fleet.redis.command("RPOP", "{gannet}q:default:ready:normal")

        let found = try await fleet.outcome(["doctor"] + fleet.connection)
        #expect(found.status == 1)
        #expect(
            found.output.hasPrefix(
                "3 accepted jobs that are missing from the queue\n    such as of batch 1 of the queue default: 3\n    Redis has lost them.")
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
}
