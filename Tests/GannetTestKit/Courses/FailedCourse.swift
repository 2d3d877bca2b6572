/// A course of steps that fails.
package struct FailedCourse<Step: Sendable>: Sendable {
    package let steps: [Step]
    package let what: String
    /// The steps in words.
    package let story: [String]

    package init(steps: [Step], what: String, story: [String]) {
        self.steps = steps
        self.what = what
        self.story = story
    }

    /// Leaves out parts of the course, smaller and smaller ones, as long as it fails without them.
    /// - Parameter play: Plays a course. The answer has the steps up to the one that failed, and is `nil` where all went well.
    package func shortened(
        within time: Duration = .seconds(30), _ play: ([Step]) async throws -> FailedCourse?
    ) async throws -> FailedCourse {
        var shortest = self
        let end = ContinuousClock.now + time
        var size = max(1, steps.count / 2)
        while ContinuousClock.now < end {
            var start = shortest.steps.count - size
            var isShorter = false
            while start >= 0, ContinuousClock.now < end {
                var fewer = shortest.steps
                fewer.removeSubrange(start..<min(start + size, fewer.count))
                if let failed = try await play(fewer) {
                    shortest = failed
                    isShorter = true
                    start = min(start, failed.steps.count)
                }
                start -= size
            }
            if size == 1 && !isShorter { break }
            size = max(1, size / 2)
        }
        return shortest
    }

    /// - Parameter command: Plays the whole course again.
    package func report(seed: UInt64, steps: Int, command: String) -> String {
        "seed \(seed), step \(steps): \(what)\nThe same with \(self.steps.count) of its steps (\(command) plays it whole):\n"
            + story.enumerated().map { "  \($0.offset + 1). \($0.element)" }.joined(separator: "\n")
    }
}
