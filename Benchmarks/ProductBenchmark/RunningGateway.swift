import Foundation
import GannetTestKit

/// A `gannet serve` with the Redis of the stage.
struct RunningGateway: Sendable {
    let process: ChildProcess
    let address: String

    static func start(_ stage: Stage, _ words: [String] = []) async throws -> RunningGateway {
        let command = Product(stage: stage).command(["serve", "--bind", "127.0.0.1:0", "--allow-net", "127.0.0.0/8"] + words)
        let process = try ChildProcess(.init(command.program, command.arguments, environment: command.environment))
        let start = "gannet: serving on "
        guard let line = try await process.errors.line(where: { $0.hasPrefix(start) }),
            let address = line.dropFirst(start.count).split(separator: " ").first
        else { throw KitError("the gateway does not start: \(process.errors.text)") }
        return RunningGateway(process: process, address: String(address))
    }

    /// Its processor time during some work, and the memory after it. Both are sums with its programs for thumbnails.
    func measured(_ count: Int, _ work: () async throws -> Void) async throws -> Contest.Run {
        let before = try RunningProcess.cpuTimeWithChildren(of: process.pid)
        let start = ContinuousClock.now
        try await work()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let cpuTime = try RunningProcess.cpuTimeWithChildren(of: process.pid) - before
        let memory = try RunningProcess.residentMemoryOfChildren(of: process.pid).reduce(0, +)
        return Contest.Run(
            count: count, seconds: seconds, cpuTime: cpuTime,
            peakMemory: try RunningProcess.residentMemory(of: process.pid) + memory)
    }

    func stop() async throws {
        process.terminate()
        let process = process
        _ = try await bounded("the gateway ends") { try await process.exitStatus }
    }
}
