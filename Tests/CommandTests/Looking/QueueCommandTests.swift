import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct QueueCommandTests {
    @Test func `a paused queue waits, and goes on when it is resumed`() async throws {
        let fleet = try await Fleet.start(files: 3)
        _ = try await fleet.text(["enqueue", "-i", fleet.list])
        #expect(try await fleet.text(["pause"]) == "Paused the queue 'default'; 'gannet resume' lets it go on.\n")
        #expect(try await fleet.text(["pause"]) == "The queue 'default' was paused already.\n")
        let worker = try fleet.start(fleet.work)
        _ = try await worker.errors.line { $0.contains("working on the queue") }
        #expect(try await fleet.json(["status"])["paused"] as? Bool == true)
        #expect(try await fleet.requests().isEmpty)
        #expect(try await fleet.text(["resume"]) == "The queue 'default' goes on.\n")
        #expect(try await worker.exitStatus == .exited(0))
        try fleet.expectAllBodies()
        #expect(try await fleet.text(["resume"]) == "The queue 'default' was not paused.\n")
        try await fleet.stop()
    }

    @Test func `a pause says that nothing was put into the queue yet, and is kept`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "http://h/1"])
        #expect(try await fleet.outcome(["pause"] + fleet.connection).errors == "")
        let outcome = try await fleet.outcome(["pause", "--queue", "nie"] + fleet.connection)
        #expect(outcome.status == 0 && outcome.output == "Paused the queue 'nie'; 'gannet resume' lets it go on.\n")
        #expect(outcome.errors == "gannet: nothing was put into the queue 'nie' yet.\n")
        #expect(try await fleet.json(["status", "--queue", "nie"])["paused"] as? Bool == true)
        try await fleet.stop()
    }

    @Test func `a queue is emptied only when that is said twice`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "-i", try fleet.list("list", 0..<1200), "--batch", "b"])
        _ = try await fleet.text(["enqueue", "http://other/", "--queue", "another"])
        let refused = try await fleet.outcome(["purge"] + fleet.connection)
        #expect(refused.status == 64)
        #expect(refused.errors.hasPrefix("Error: 'purge' empties a queue, and there is no terminal to ask at: say '--yes' to do it.\n"))
        #expect(try await fleet.json(["batch", "show", "b"])["ready"] as? Int == 1200)

        _ = try await fleet.text(["pause"])
        let text = try await fleet.text(["purge", "--yes"])
        #expect(text == "Removed from the queue 'default': 1200 jobs that have not ended, 0 dead, and the totals.\n")
        let status = try await fleet.json(["status"])
        #expect((status["totals"] as? [String: Any])?["enqueued"] as? Int == 0)
        #expect(status["paused"] as? Bool == true)
        let other = try await fleet.json(["status", "--queue", "another"])
        #expect((other["jobs"] as? [String: Any])?["ready"] as? Int == 1)
        try await fleet.stop()
    }

    @Test(arguments: [("n", 1), ("", 1), ("yes please", 1), ("Y", 0)])
    func `on a terminal, a purge asks first, and takes only a yes as consent`(answer: String, left: Int) async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "http://h/1"])
        // A terminal of its own, into which the answer is typed.
        let purge = "printf '%s\\n' '\(answer)' | script -qec \"'$0' purge --redis '\(fleet.address)'\" /dev/null"
        let outcome = try await fleet.outcome(script: purge)
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("1 job that has not ended, 0 dead, and the totals? [y/N] "), "\(outcome.output)")
        #expect(outcome.output.contains(left == 0 ? "Removed from the queue" : "Nothing was changed."), "\(outcome.output)")
        let jobs = try await fleet.json(["status"])["jobs"] as? [String: Any]
        #expect(jobs?["ready"] as? Int == left)
        try await fleet.stop()
    }
}
