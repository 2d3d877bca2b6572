/// Runs tasks on a few threads of its own, for work that may compute for long, or block: functions that a program's author wrote, and files.
///
/// Swift's own threads are one for each core. A function that holds one of them holds up every task of the program.
///
/// The threads start when there is work for them, and stay. Jobs run in the order in which they come.
package final class TaskThreads: TaskExecutor {
    private struct State {
        var jobs = Fifo<UnownedJob>()
        var threads = 0
        /// Threads that wait for a job.
        var idle = 0
    }

    private let state = Condition(State())
    private let name: String
    private let most: Int

    /// - Parameters:
    ///   - name: For `top -H`; 15 bytes at most.
    ///   - most: How many threads there are at most.
    package init(name: String, most: Int) {
        self.name = name
        self.most = most
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let number = state.withLock { state -> Int? in
            state.jobs.append(job)
            guard state.jobs.count > state.idle, state.threads < most else { return nil }
            state.threads += 1
            return state.threads
        }
        guard let number else { return state.wake() }
        if number == 1 {
            OwnedThread.start(name: name) { self.work() }
        } else if OwnedThread(name: name, { self.work() }) == nil {
            // The other threads do the work.
            state.withLock { $0.threads -= 1 }
        }
    }

    private func work() {
        let executor = asUnownedTaskExecutor()
        while true {
            state.withLock { $0.idle += 1 }
            let job = state.wait { state -> UnownedJob? in
                guard let job = state.jobs.popFirst() else { return nil }
                state.idle -= 1
                return job
            }
            job.runSynchronously(on: executor)
        }
    }
}
