import GannetTestKit

@testable import Crawl
@testable import GannetQueue

/// A course that went wrong, and why.
struct Violation: Error, CustomStringConvertible {
    let description: String

    static func require(_ isRight: Bool, _ sentence: @autoclosure () -> String) throws {
        if !isRight { throw Violation(description: sentence()) }
    }
}

/// The end of a course. Nothing breaks any more: all that was accepted ends, and nothing is left.
extension SimulatedFleet {
    private static let mostRounds = 2000

    mutating func comeToRest() async throws {
        tell("from here on nothing breaks")
        _ = try await queue.resume()
        for (request, partition) in late { try await arriveLate(request, in: partition) }
        late = []
        for index in workers.indices { goOn(index) }
        // The others may have ended, or may be about to.
        bear(7)
        var rounds = 0
        while true {
            let counts = try await queue.counts()
            if counts.isEmpty { break }
            rounds += 1
            try Violation.require(rounds < Self.mostRounds, "after \(rounds) rounds jobs are left: \(counts)")
            try await round()
        }
        for index in workers.indices { workers[index].take([.stopRequested], at: now) }
        while workers.contains(where: { !$0.hasEnded }) {
            rounds += 1
            try Violation.require(
                rounds < Self.mostRounds, "the queue is empty, and \(workers.filter { !$0.hasEnded }.map(\.name)) do not end")
            try await round()
        }
        try await check()
    }

    /// All messages arrive, and all requests end. Where nothing is under way, time goes by until a machine wants to be woken.
    private mutating func round() async throws {
        var isIdle = true
        for index in workers.indices {
            let messages = workers[index].messages
            workers[index].messages = []
            for message in messages { try await arrive(message, of: index) }
            isIdle = isIdle && messages.isEmpty
        }
        for index in workers.indices {
            // An end may begin others, which are for the next round.
            let (transfers, storing) = (workers[index].transfers, workers[index].storing)
            (workers[index].transfers, workers[index].storing) = ([], [])
            isIdle = isIdle && transfers.isEmpty && storing.isEmpty
            for transfer in transfers { finish(transfer, of: index) }
            workers[index].take(storing.map { .concluded($0.token, $0.end) }, at: now)
        }
        noteRequests()
        guard isIdle else { return }
        let next = workers.compactMap { $0.hasEnded ? nil : $0.wakeUp(after: now) }.min()
        guard let next else { throw Violation(description: "nobody would do anything any more: \(try await queue.counts())") }
        pass(max(.milliseconds(1), next - now))
    }

    private mutating func finish(_ transfer: SimulatedWorker.Transfer, of index: Int) {
        let job = transfer.job
        let outcome: Settlement.Outcome = transfer.isCancelled ? .handedBack : .fetched(OutcomeContent(url: job.url), Self.forLong)
        let conclusion = Conclusion(
            Settlement(job.token, job.id, outcome, host: .answered), transfer.isCancelled ? .handedBack(JobLabel(job)) : nil)
        workers[index].take([.transferEnded(job.token, bytes: nil), .concluded(job.token, conclusion)], at: now)
    }

    private func check() async throws {
        let counts = try await queue.counts()
        let ended = counts.done + counts.failed + counts.cancelled
        try Violation.require(
            counts.enqueued == accepted && ended == accepted, "\(accepted) jobs were accepted, and \(ended) have ended: \(counts)")
        let asked = requests.values.reduce(0, +)
        // Each job of a batch that wants fresh answers may ask.
        let most = requests.count + refreshed + counts.retried + counts.crashed + counts.doubleFetches + handedBack.count
        try Violation.require(
            asked <= most,
            "the origin was asked \(asked) times for \(requests.count) URLs, and \(refreshed) refreshed, \(counts.retried) retried, "
                + "\(counts.crashed) crashed, \(counts.doubleFetches) double and \(handedBack.count) handed back explain \(most)")
        let findings = try await cluster.audit(mend: false)
        try Violation.require(findings.isEmpty, "the audit finds \(findings)")
    }
}
