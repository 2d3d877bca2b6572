// Linux only: it reads the processor time of running threads from /proc, and LateOrigin needs epoll.
import BenchmarkKit
import GannetTestKit

/// Workers in the middle of a queue. Their start and the end of the queue are not part of it, so few jobs and many can be compared.
struct SteadyRun {
    /// How much of a queue a run takes.
    struct Window {
        /// Jobs that are fetched before.
        let before: Int
        /// Jobs that are counted.
        let count: Int
        /// Jobs that are left, so that the places stay full.
        let after: Int

        var all: Int { before + count + after }
    }

    var jobs = 0
    var seconds = 0.0
    /// Of all workers.
    var cpuTime = Duration.zero
    var redis = Duration.zero
    var scriptCalls = 0
    /// Of the worker that had the most, from its start to its end, in bytes.
    var peakMemory = 0

    var perSecond: Double { Double(jobs) / seconds }

    /// Counts another run with this one.
    mutating func add(_ other: SteadyRun) {
        jobs += other.jobs
        seconds += other.seconds
        cpuTime += other.cpuTime
        redis += other.redis
        scriptCalls += other.scriptCalls
        peakMemory = max(peakMemory, other.peakMemory)
    }

    /// The columns that `cells` fills.
    static let columns = ["URLs", "a second", "workers' CPU a job", "Redis' CPU a job", "script calls a job", "a worker's memory"]

    var cells: [String] {
        let each = Double(jobs)
        return [
            grouped(jobs), rate(perSecond), time(cpuTime.microseconds / each), time(redis.microseconds / each),
            hundredths(Double(scriptCalls) / each), memory([peakMemory]),
        ]
    }
}

extension Product {
    /// Starts workers, counts while they fetch the jobs of a window, and ends them.
    func steady(_ workers: Workers, at origin: LateOrigin, _ window: SteadyRun.Window) async throws -> SteadyRun {
        let answered = origin.answered
        let processes = try (0..<workers.count).map { _ in try start(command(["work"] + workers.words)) }
        func wait(for count: Int) async throws {
            try await eventually("\(count) answers of the origin", within: .seconds(120)) {
                guard processes.allSatisfy(\.isRunning) else { throw KitError("a worker has ended: \(try await status())") }
                return origin.answered - answered >= count
            }
        }
        func cpuTime() throws -> Duration {
            try processes.reduce(.zero) { try $0 + RunningProcess.cpuTime(of: $1.pid) }
        }
        try await wait(for: window.before)
        var run = SteadyRun()
        let work = try await stage.work {
            let (jobs, cpu, start) = (origin.answered, try cpuTime(), ContinuousClock.now)
            // More than the first of these may have been answered before the clock ran.
            try await wait(for: min(jobs - answered + window.count, window.before + window.count + window.after / 2))
            run.seconds = (ContinuousClock.now - start) / .seconds(1)
            run.jobs = origin.answered - jobs
            run.cpuTime = try cpuTime() - cpu
        }
        guard run.jobs > 0 else { throw KitError("\(window.count) jobs are too few to be seen") }
        run.redis = work.cpuTime
        run.scriptCalls = work.statistics.scriptCalls
        for process in processes { process.terminate() }
        for process in processes {
            run.peakMemory = max(run.peakMemory, try await bounded("a worker ends") { try await process.usage }.peakMemory)
        }
        // The jobs of the window were settled, and as fetched.
        let (fetched, failed) = (try await number("fetched"), try await number("failed"))
        guard failed == 0, fetched >= window.before + window.count else {
            throw KitError("\(fetched) jobs were fetched and \(failed) failed: \(try await status())")
        }
        return run
    }

    /// Starts a command that runs until it is told to end.
    func start(_ command: Command) throws -> ChildProcess {
        try ChildProcess(.init(command.program, command.arguments, environment: command.environment, output: .discarded))
    }
}
