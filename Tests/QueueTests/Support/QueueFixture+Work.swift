import GannetTestKit

@testable import GannetQueue

/// Work on a whole queue, many jobs in each exchange.
extension QueueFixture {
    /// The usual end of a job: its URL is fetched, or its outcome is delivered. A job whose URL has failed fails too.
    static func usualEnd(of job: Job) -> Settlement.Outcome {
        guard let outcome = job.outcome else { return fetched(job.url) }
        return outcome.isNegative ? failed(job.url) : .delivered
    }

    /// Works until the home partition has nothing more to hand out. Each exchange settles the jobs of the exchange before.
    /// - Returns: The jobs, and the number of exchanges.
    @discardableResult
    func work(
        _ size: Int = ExchangeRequest.mostJobs, hostLimit: Int = 1000, worker: String = "w",
        ending end: (Job) -> Settlement.Outcome = usualEnd
    ) async throws -> (jobs: [Job], exchanges: Int) {
        var all: [Job] = []
        var held: [Job] = []
        for number in 1...Self.mostExchanges {
            let settlements = held.map { Settlement($0.token, $0.id, end($0), host: .answered, isDelivery: $0.outcome != nil) }
            let answer = try await claim(size, hostLimit: hostLimit, worker: worker) { $0.settlements = settlements }
            guard answer.verdicts.allSatisfy({ $0 == .settled }) else { throw KitError("a job was lost while its queue was worked off") }
            held = answer.jobs
            all += held
            if held.isEmpty, !answer.isMore, answer.next != .zero { return (all, number) }
        }
        throw KitError("\(Self.mostExchanges) exchanges have not come to the end of the queue")
    }

    /// The first jobs that an exchange brings. Some jobs are found by one exchange and handed out by the next.
    func claimSoon(_ wanted: Int, hostLimit: Int = 1000, worker: String = "w") async throws -> [Job] {
        for _ in 0..<10 {
            let answer = try await claim(wanted, hostLimit: hostLimit, worker: worker)
            if !answer.jobs.isEmpty { return answer.jobs }
        }
        return []
    }

    /// Far more than any test needs.
    private static let mostExchanges = 20_000
}

extension QueueCounts {
    /// The counts of a queue that is gone, or was never there.
    static func nothing(partitions: Int = 1) -> QueueCounts {
        var counts = QueueCounts()
        counts.partitions = partitions
        return counts
    }
}
