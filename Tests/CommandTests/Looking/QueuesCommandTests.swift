import Foundation
import GannetTestKit
import Testing

/// `queues`, and commands about a queue that there is not.
@Suite(.timeLimit(.minutes(2))) struct QueuesCommandTests {
    @Test func `each queue is listed with its jobs and workers, also one that nobody works on`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let none = try await fleet.outcome(["queues"] + fleet.connection)
        #expect(none.status == 0 && none.output == "" && none.errors.contains("there are no queues in the namespace"), "\(none.errors)")
        for queue in ["pictures", "pages"] {
            _ = try await fleet.text(["enqueue", "-i", fleet.list, fleet.origin.url("/nothing"), "--queue", queue])
        }
        _ = try await fleet.text(["pause", "--queue", "pages"])
        #expect(try await fleet.outcome(fleet.work + ["--queue", "pictures"]).status == 0)
        let table = try await fleet.text(["queues"]).split(separator: "\n").map { $0.replacing(/\ {2,}/, with: "|") }
        #expect(table == ["QUEUE|NOT ENDED|DONE|DEAD|WORKERS", "pages (paused)|4|0|0|0", "pictures|0|3|1|0"], "\(table)")
        let json = try await fleet.json(["queues"])
        let queues = try #require(json["queues"] as? [[String: Any]])
        #expect(queues.compactMap { $0["queue"] as? String } == ["pages", "pictures"])
        #expect(queues.compactMap { $0["notEnded"] as? Int } == [4, 0] && queues.compactMap { $0["paused"] as? Bool } == [true, false])
        try await fleet.stop()
    }

    @Test func `a command on a queue that there is not says so, and names those there are`() async throws {
        let fleet = try await Fleet.start(files: 1)
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--queue", "monday"])
        for words in [["jobs", "retry"], ["jobs", "delete", "--state", "ready", "--yes"]] {
            let outcome = try await fleet.outcome(words + ["--queue", "tuesday"] + fleet.connection)
            #expect(
                outcome.status == 0 && outcome.errors.contains("there is no queue 'tuesday': nothing was put into it"), "\(outcome.errors)")
        }
        let work = try await fleet.outcome(["work", "--until-empty", "--store", fleet.out, "--queue", "tuesday"] + fleet.connection)
        #expect(work.errors.contains("nothing was put into the queue 'tuesday' yet."), "\(work.errors)")
        try await fleet.stop()
    }
}
