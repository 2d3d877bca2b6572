import BenchmarkKit
import GannetTestKit

/// `redis-benchmark`, which comes with Redis.
struct RedisBenchmarkTool {
    let socketPath: String

    func set(connections: Int, pipeline: Int, count: Int, bytes: Int = 3) async throws -> Measurement {
        let cpu = cpuTime(ofChildren: true)
        let output = try await ChildProcess.succeed(
            "redis-benchmark",
            [
                "-s", socketPath, "-t", "set", "-c", "\(connections)", "-P", "\(pipeline)", "-n", "\(count)", "-d", "\(bytes)", "--csv",
            ])
        let used = cpuTime(ofChildren: true) - cpu
        // "test","rps",… and below it "SET","123456.78",…
        let fields = output.split(whereSeparator: \.isNewline).last?.split(separator: ",") ?? []
        guard fields.count > 1, let rate = Double(fields[1].filter { $0 != "\"" }) else {
            throw KitError("redis-benchmark printed something else than expected: \(output)")
        }
        return Measurement(perSecond: rate, cpuMicroseconds: used / .microseconds(1) / Double(count))
    }
}
