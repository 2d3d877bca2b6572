import GannetQueue
import GannetRedisClient
import GannetTestKit

/// A worker in its own process, which claims once and then does nothing until it is killed. Its program `StateWorker` is built beside the
/// tests.
struct StateWorkerProcess: Sendable {
    let process: ChildProcess

    /// Starts the process. Returns when it has its jobs.
    init(_ fixture: QueueFixture, jobs: Int, lease: Duration, hostLimit: Int) async throws {
        let milliseconds = Int(lease / .milliseconds(1))
        guard case .unix(let socket) = fixture.redis.configuration.address else { throw KitError("the worker connects to a Unix socket") }
        process = try ChildProcess(
            .init(
                Program.built("TestHelper"),
                ["queue", socket, fixture.namespace, fixture.queue.name, "\(jobs)", "\(milliseconds)", "\(hostLimit)"])
        )
        guard let line = try await process.output.line(where: { $0.hasPrefix("holds ") }) else {
            throw KitError("the worker ended with \(try await process.exitStatus): \(process.errors.text)")
        }
        guard line == "holds \(jobs)" else { throw KitError("the worker \(line) jobs instead of \(jobs)") }
    }

    /// Kills the process as kill -9 does. Returns when it is gone.
    func kill9() async throws {
        process.kill()
        _ = try await process.exitStatus
    }
}
