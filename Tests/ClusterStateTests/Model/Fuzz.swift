#if canImport(Glibc)
@testable import ClusterState

/// Looks for a course in which state and model differ, and for the shortest course that shows it.
struct Fuzz {
    let bench: ModelBench
    var isCrowded = false
    var crashes = false
    var partitions = 1
    var scripts = ClusterScripts.standard

    init(_ bench: ModelBench) { self.bench = bench }

    struct Failure: CustomStringConvertible {
        let seed: UInt64
        let steps: Int
        let kept: Int
        let what: String
        let story: [String]

        var description: String {
            "seed \(seed), step \(steps): \(what)\nThe same with \(kept) of its operations (make fuzz SEED=\(seed) replays it whole):\n"
                + story.enumerated().map { "  \($0.offset + 1). \($0.element)" }.joined(separator: "\n")
        }
    }

    func failure(seed: UInt64, steps: Int) async throws -> Failure? {
        let course = Operation.course(seed: seed, count: steps, crashes: crashes)
        guard let first = try await outcome(seed, course) else { return nil }
        // The prefix ends with the operation that failed. Operations before that are left out where the course fails without them.
        var kept = Array(course.prefix(first.position + 1))
        var shortest = first
        let end = ContinuousClock.now + .seconds(30)
        var size = max(1, kept.count / 2)
        while ContinuousClock.now < end {
            var start = kept.count - size
            var isShorter = false
            while start >= 0, ContinuousClock.now < end {
                var fewer = kept
                fewer.removeSubrange(start..<min(start + size, kept.count))
                if let found = try await outcome(seed, fewer) {
                    kept = Array(fewer.prefix(found.position + 1))
                    shortest = found
                    isShorter = true
                    start = min(start, kept.count)
                }
                start -= size
            }
            if size == 1 && !isShorter { break }
            size = max(1, size / 2)
        }
        return Failure(seed: seed, steps: first.position + 1, kept: kept.count, what: shortest.what, story: shortest.story)
    }

    private struct Found {
        let position: Int
        let what: String
        let story: [String]
    }

    private func outcome(_ seed: UInt64, _ course: [Operation]) async throws -> Found? {
        var run = try await ModelRun(bench, ModelClimate(seed: seed, partitions: partitions, isCrowded: isCrowded), scripts)
        do {
            try await run.run(course)
            return nil
        } catch {
            try Task.checkCancellation()
            return Found(position: run.position, what: "\(error)", story: run.story)
        }
    }
}
#endif
