import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct DoctorCommandTests {
    @Test func `drift is reported with its meaning, and mended on request`() async throws {
        let fleet = try await Fleet.start(files: 1)
        #expect(try await fleet.text(["doctor"]) == "Everything is as it should be.\n")
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("list", 0..<5), "--batch", "b"])
        _ = try await fleet.redis.command("LTRIM", "{gannet}q:default:ready:normal", "0", "2")

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
}
