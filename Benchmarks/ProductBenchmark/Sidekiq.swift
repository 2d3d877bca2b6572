import BenchmarkKit
import GannetTestKit

/// Sidekiq with its default of ten threads.
struct Sidekiq {
    let stage: Stage
    /// Whether it writes two lines for each job, as it does unless it is told otherwise.
    let logs: Bool

    /// A worker takes a job out of Redis before it does the work.
    static let omits = "a job is lost with its worker; no outcome is kept"

    func run(_ count: Int) async throws -> Contest.Run {
        try await stage.clear()
        let outcome = try await bounded("the jobs are enqueued") {
            try await ChildProcess.run(options("ruby", ["nothing.rb", "\(count)"]))
        }
        guard outcome.status == .exited(0), try await waiting == count else {
            throw KitError("Sidekiq did not accept \(count) jobs: \(outcome.errors)")
        }
        var took = Duration.zero
        var usage: ChildProcess.Usage?
        let redis = try await stage.work {
            let start = ContinuousClock.now
            let process = try worker()
            try await bounded("Sidekiq's queue is empty", within: .seconds(300)) {
                while try await waiting > 0 {
                    guard process.isRunning else { throw KitError("Sidekiq has ended: \(process.errors.text)") }
                    // Seldom enough to cost nothing.
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            took = ContinuousClock.now - start
            process.terminate()
            usage = try await bounded("Sidekiq ends") { try await process.usage }
        }
        return .init(
            count: count, seconds: took / .seconds(1), cpuTime: usage?.cpuTime ?? .zero, peakMemory: usage?.peakMemory ?? 0, redis: redis)
    }

    /// Its worker process, which runs until it is told to end.
    func worker() throws -> ChildProcess { try ChildProcess(options("sidekiq", ["-r", "./nothing.rb"])) }

    private var waiting: Int {
        get async throws {
            guard case .integer(let count) = try await stage.redis.command("LLEN", "queue:default") else { return 0 }
            return count
        }
    }

    private func options(_ program: String, _ arguments: [String]) -> ChildProcess.Options {
        let environment = Peers.environment(["REDIS_URL": stage.url].merging(logs ? [:] : ["QUIET": "1"]) { $1 })
        return .init(program, arguments, environment: environment, folder: Peers.folder, output: .discarded)
    }
}
