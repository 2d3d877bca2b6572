/// Runs tasks on one thread of its own, in turns: it takes all jobs that have gathered, runs them in their order, and looks again.
///
/// Swift's own threads take jobs one by one, and each job may wake one of them. Where a few other threads bring thousands of short jobs a
/// second, waking costs as much as the jobs. This thread is woken only when it sleeps. A task that blocks holds up all others here.
///
/// The thread starts with the first job, and stays.
package final class TaskThread: TaskExecutor {
    private enum Phase {
        case notStarted, awake, asleep
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var phase = Phase.notStarted
    }

    /// Runs the tasks of workers whose bodies go to Redis: their jobs, and the calls that store the bodies.
    package static let jobs = TaskThread(name: "jobs")

    private let state = Condition(State())
    private let name: String

    /// - Parameter name: For `top -H`; 15 bytes at most.
    package init(name: String) { self.name = name }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let before = state.withLock { state -> Phase in
            state.jobs.append(job)
            defer { state.phase = .awake }
            return state.phase
        }
        switch before {
        case .notStarted: OwnedThread.start(name: name) { self.work() }
        case .asleep: state.wake()
        case .awake: break
        }
    }

    private func work() {
        let executor = asUnownedTaskExecutor()
        while true {
            let jobs = state.wait { state -> [UnownedJob]? in
                guard !state.jobs.isEmpty else {
                    state.phase = .asleep
                    return nil
                }
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs { job.runSynchronously(on: executor) }
        }
    }
}
