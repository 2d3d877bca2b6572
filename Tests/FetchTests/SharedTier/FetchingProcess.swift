import GannetTestKit

/// Another process that fetches through a cache in Redis.
struct FetchingProcess: Sendable {
    let process: ChildProcess

    /// Starts it; returns when it is connected and about to fetch.
    init(
        _ redis: RedisServer, _ url: String, namespace: String, lease: Duration = .seconds(30), calls: Int = 1,
        stubbornAt input: String? = nil
    ) async throws {
        let words = [redis.socketPath, namespace, "\(Int(lease / .milliseconds(1)))", "\(calls)", url]
        process = try ChildProcess(
            .init(Program.built("TestHelper"), ["fetch"] + words + (input == nil ? [] : ["stubborn"]), input: input))
        guard try await process.output.line(where: { $0 == "connected" }) != nil else {
            throw KitError("the process ended with \(try await process.exitStatus): \(process.errors.text)")
        }
    }

    /// The counts that it printed at its end.
    struct Outcome: Equatable {
        var body: String
        var good = 0
        var failed = 0
        var downloads = 0
        var shared = 0
        var fenced = 0
        var lost = 0
    }

    var outcome: Outcome {
        get async throws {
            let status = try await process.exitStatus
            try await process.output.finished()
            guard status == .exited(0), let body = process.output.lines.dropLast().last,
                let numbers = process.output.lines.last?.split(separator: " ").compactMap({ Int($0) }), numbers.count == 6
            else { throw KitError("the process ended with \(status): \(process.output.text) \(process.errors.text)") }
            return Outcome(
                body: body, good: numbers[0], failed: numbers[1], downloads: numbers[2], shared: numbers[3], fenced: numbers[4],
                lost: numbers[5])
        }
    }
}
