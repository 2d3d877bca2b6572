import GannetQueue
import GannetTestKit
import Testing

/// Each accepted job ends once, no request is unexplained, and nothing is left, whatever happens to workers, messages and clocks.
@Suite struct SimulationTests {
    @Test func `workers and scripts keep the promises together, whatever breaks`() async throws {
        let settings = FuzzSettings(always: Array(1...8), random: 8)
        print("simulation: \(settings.seeds.count) seeds, at random: \(settings.random.prefix(50))")
        let redis = try await SimulatedRedis()
        for seed in settings.seeds {
            let steps = FuzzSettings.steps ?? 300
            guard let first = try await failed(redis, seed, FleetEvent.course(seed: seed, count: steps)) else { continue }
            let shortest = try await first.shortened { try await failed(redis, seed, $0) }
            let command = "GANNET_FUZZ_SEED=\(seed) Scripts/test --filter SimulationTests"
            Issue.record(Comment(rawValue: shortest.report(seed: seed, steps: first.steps.count, command: command)))
            break
        }
        try await redis.close()
    }

    @Test func `one seed makes one course`() async throws {
        let redis = try await SimulatedRedis()
        for seed in UInt64(1)...3 {
            let events = FleetEvent.course(seed: seed, count: 200)
            var stories: [[String]] = []
            for _ in 0..<2 {
                var fleet = try await SimulatedFleet(redis, seed: seed)
                try await fleet.play(events)
                stories.append(fleet.story)
            }
            #expect(stories[0] == stories[1], "seed \(seed)")
        }
        try await redis.close()
    }

    @Test(arguments: try PlantedFault.found()) func `a fault in the scripts is found`(_ fault: PlantedFault) async throws {
        let scripts = try fault.scripts()
        let redis = try await SimulatedRedis()
        let begun = ContinuousClock.now
        for seed in UInt64(1)...100 {
            guard let course = try await failed(redis, seed, FleetEvent.course(seed: seed, count: 300), scripts) else { continue }
            print("simulation: '\(fault.name)' is found in course \(seed), after \(ContinuousClock.now - begun): \(course.what)")
            return try await redis.close()
        }
        Issue.record("no course finds '\(fault.name)'")
        try await redis.close()
    }

    private func failed(
        _ redis: SimulatedRedis, _ seed: UInt64, _ events: [FleetEvent], _ scripts: ClusterScripts = .standard
    ) async throws -> FailedCourse<FleetEvent>? {
        var fleet = try await SimulatedFleet(redis, seed: seed, scripts)
        do {
            try await fleet.play(events)
            return nil
        } catch {
            try Task.checkCancellation()
            return FailedCourse(steps: Array(events.prefix(fleet.position + 1)), what: "\(error)", story: fleet.story)
        }
    }
}
