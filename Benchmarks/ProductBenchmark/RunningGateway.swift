#if canImport(Glibc)
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
        let before = try cpuTimes()
        let start = ContinuousClock.now
        try await work()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let after = try cpuTimes()
        let cpuTime = after.reduce(Duration.zero) { $0 + $1.value - (before[$1.key] ?? .zero) }
        return Contest.Run(
            count: count, seconds: seconds, cpuTime: cpuTime,
            peakMemory: try after.keys.map { try RunningProcess.residentMemory(of: $0) }.reduce(0, +))
    }

    func stop() async throws {
        process.terminate()
        let process = process
        _ = try await bounded("the gateway ends") { try await process.exitStatus }
    }

    private func cpuTimes() throws -> [Int32: Duration] {
        var times: [Int32: Duration] = [:]
        for pid in try [process.pid] + children() { times[pid] = try RunningProcess.cpuTime(of: pid) }
        return times
    }

    /// Each thread has a list of its own.
    private func children() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/task").flatMap { thread in
            let text = try? contents(ofFile: "/proc/\(process.pid)/task/\(thread)/children")
            return String(decoding: text ?? [], as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        }
    }
}
#endif
