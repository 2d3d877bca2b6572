import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

/// In a process of its own, whose threads are nobody else's.
@Suite(.timeLimit(.minutes(1))) struct ThreadEndTests {
    private static func count() -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.filter { (try? contents(ofFile: "/proc/self/task/\($0)/comm")) == Array("gannet-files\n".utf8) }.count
    }

    @Test("The threads of a folder end with what they are for")
    func end() async throws {
        try await inOwnProcess {
            var threads: FileThreads? = FileThreads(.init(threads: 4, reads: 10, writes: 10, bytes: 10))
            let gate = Gate()
            let tasks = (0..<4).map { [threads] _ in Task { _ = await threads?.run(.reads) { _ in gate.pass() } } }
            try await gate.holds(4)
            try #require(Self.count() == 4)
            gate.open()
            for task in tasks { await task.value }
            threads = nil
            try await eventually("the threads end") { Self.count() == 0 }
        }
    }
}
