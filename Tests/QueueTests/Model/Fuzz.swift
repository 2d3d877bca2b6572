import GannetTestKit

@testable import GannetQueue

/// Looks for a course in which state and model differ, and for the shortest course that shows it.
struct Fuzz {
    let bench: ModelBench
    var isCrowded = false
    var crashes = false
    var partitions = 1
    var scripts = ClusterScripts.standard

    init(_ bench: ModelBench) { self.bench = bench }

    /// Plays the course of a seed. The answer says in words what failed.
    func failure(seed: UInt64, steps: Int) async throws -> String? {
        let course = Operation.course(seed: seed, count: steps, crashes: crashes)
        guard let first = try await failed(seed, course) else { return nil }
        let shortest = try await first.shortened { try await failed(seed, $0) }
        return shortest.report(seed: seed, steps: first.steps.count, command: "make fuzz SEED=\(seed)")
    }

    private func failed(_ seed: UInt64, _ course: [Operation]) async throws -> FailedCourse<Operation>? {
        let run = try await ModelRun(bench, ModelClimate(seed: seed, partitions: partitions, isCrowded: isCrowded), scripts)
        do {
            try await run.run(course)
            return nil
        } catch {
            try Task.checkCancellation()
            return FailedCourse(steps: Array(course.prefix(run.position + 1)), what: "\(error)", story: run.story)
        }
    }
}
