import Foundation
import GannetTestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct InterruptionTests {
    /// So many that a run of them is still under way when its test, on a busy machine, comes to interrupt it.
    private let many = 1000

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)])
    func `a run that a signal ended goes on where it stopped, and fetches nothing twice`(signal: Int32, status: Int32) async throws {
        let fleet = try await Fleet.start(files: many)
        let words = fleet.run + ["--concurrency", "2"]
        let first = try await fleet.start(words, untilFetched: 20)
        first.signal(signal)
        #expect(try await first.exitStatus == .exited(status))
        try await first.errors.finished()
        #expect(first.errors.text.hasSuffix("gannet: interrupted before it was done; the same command goes on where it stopped.\n"))
        #expect(first.output.text == "")
        let before = try fleet.bodies().count
        #expect(before >= 20 && before < many)
        #expect(try await fleet.requests().values.reduce(0, +) == before)

        let second = try await fleet.outcome(words)
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.errors == "gannet: going on with an interrupted run: \(before) of \(many) are fetched.\n")
        #expect(second.output.hasPrefix("\(many) URLs fetched, 0 failed; "))
        try fleet.expectAllBodies()
        #expect(try await fleet.requests() == Dictionary(uniqueKeysWithValues: fleet.origin.files.map { ($0.path, 1) }))
        #expect(try await fleet.keys() == .list([]))
        try await fleet.stop()
    }

    @Test func `a run that was killed loses no URL`() async throws {
        let fleet = try await Fleet.start(files: many)
        let words = fleet.run + ["--concurrency", "4", "--lease", "1s"]
        let first = try await fleet.start(words, untilFetched: 30)
        first.kill()
        _ = try await first.exitStatus
        let second = try await fleet.outcome(words)
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.hasPrefix("\(many) URLs fetched, 0 failed; "))
        // What it was writing when it was killed is nobody's result.
        for file in try fleet.bodies() where file.hasPrefix(".gannet-") {
            try FileManager.default.removeItem(atPath: fleet.out + "/" + file)
        }
        try fleet.expectAllBodies()
        let requests = try await fleet.requests()
        #expect(requests.count == many)
        #expect(requests.values.reduce(0, +) <= many + 4)
        try await fleet.stop()
    }

    @Test func `a changed list is not mistaken for the interrupted one`() async throws {
        let fleet = try await Fleet.start(files: 100)
        let words = fleet.run + ["--concurrency", "1"]
        let first = try await fleet.start(words, untilFetched: 3)
        first.terminate()
        #expect(try await first.exitStatus == .exited(143))
        try fleet.folder.write(Array(fleet.origin.urls[90...].joined(separator: "\n").utf8), to: "urls.txt")
        let second = try await fleet.outcome(words)
        #expect(second.status == 0)
        #expect(second.errors == "gannet: the list is not the one of the interrupted run in this folder: starting over.\n")
        #expect(second.output.hasPrefix("10 URLs fetched, 0 failed; "))
        try await fleet.stop()
    }

    @Test func `a run from standard input that a signal ended leaves nothing in Redis`() async throws {
        let fleet = try await Fleet.start(files: 100)
        let words = ["run", "-i", "-", "-d", fleet.out, "--concurrency", "1"] + fleet.local + fleet.connection
        let first = try ChildProcess(
            .init(Program.path, words + ["--verbose"], environment: Program(home: "/nonexistent").environment, input: fleet.list))
        _ = try await first.errors.line { $0.hasPrefix("gannet: fetched") }
        first.signal(SIGINT)
        #expect(try await first.exitStatus == .exited(130))
        #expect(try await fleet.keys() == .list([]))
        try await fleet.stop()
    }

    @Test func `a worker that a signal ends has done what it was asked to`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let words = fleet.work.filter { $0 != "--until-empty" }
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        let worker = try await fleet.start(words, untilFetched: 3)
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0))
        try await worker.output.finished()
        #expect(worker.output.text.hasPrefix("This worker: 3 fetched, 0 failed, "))
        try await fleet.stop()
    }
}
