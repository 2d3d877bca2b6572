import GannetRedisClient
import GannetTestKit

@testable import Crawl
@testable import GannetQueue

/// The network, the origin and the store of a simulated fleet.
extension SimulatedFleet {
    /// Carries a message to Redis, or not, and its answer back, or not.
    mutating func carry(_ kind: FleetEvent.Kind, _ draw: inout Draw) async throws {
        if !late.isEmpty, draw.chance(20) {
            let (request, partition) = late.remove(at: draw.below(late.count))
            tell("a message with \(request.settlements.count) outcomes arrives late")
            try await arriveLate(request, in: partition)
            return
        }
        guard let index = any(&draw, where: { !$0.messages.isEmpty }) else { return }
        let message = workers[index].messages.remove(at: draw.below(workers[index].messages.count))
        if kind == .isLost || kind == .arrivesLate {
            if kind == .arrivesLate { late.append((message.request, message.lane.partition)) }
            tell("a message of \(workers[index].name) is \(kind == .isLost ? "lost" : "held up")")
            workers[index].take([.unanswered(message.lane, .redis(RedisErrors.lost))], at: now)
        } else {
            try await arrive(message, of: index, isAnswered: kind == .arrives)
        }
    }

    /// Nobody waits for the answer. Where a later message has come before it, Redis refuses it.
    mutating func arriveLate(_ request: ExchangeRequest, in partition: Int) async throws {
        do {
            _ = try await exchange(request, in: partition)
        } catch let error as StateError where error.description.contains("came after its successor") {
            tell("it is refused")
        }
    }

    private mutating func exchange(_ request: ExchangeRequest, in partition: Int) async throws -> ExchangeAnswer? {
        let place = cluster.partitions[partition]
        let holders = try await holders(of: request.settlements.map(\.id), in: place)
        let answer = try await queue.exchange(request, in: place)
        // The answer to a repeated message is the first one.
        let isFirst = executed.insert("\(partition) \(request.incarnation) \(request.number)").inserted
        for (index, verdict) in (answer?.verdicts ?? []).enumerated() where verdict == .settled && isFirst {
            let settlement = request.settlements[index]
            switch settlement.outcome {
            case .leftPlace, .hostAnswered: continue
            case .handedBack where begun.contains(settlement.token): handedBack.insert(settlement.token)
            default: break
            }
            try Violation.require(
                settlement.isDelivery || holders[index] == settlement.token, "an outcome is accepted, and its lock is not its sender's")
        }
        return answer
    }

    private func holders(of ids: [URLID], in partition: Partition) async throws -> [LockToken?] {
        if ids.isEmpty { return [] }
        let command = RedisCommand([.string("HMGET"), partition.keys.locks] + ids.map { .bytes($0.bytes) })
        return try await redis.connection.send(command).asArray().map { try $0.asOptionalBytes().flatMap { URLLock($0)?.token } }
    }

    mutating func arrive(_ message: SimulatedWorker.Message, of index: Int, isAnswered: Bool = true) async throws {
        let answer = try await exchange(message.request, in: message.lane.partition)
        let settled = message.request.settlements.isEmpty ? "" : ", settles \(message.request.settlements.count)"
        let jobs = answer.map { $0.jobs.isEmpty ? "" : ", gets " + $0.jobs.map { String($0.url.dropFirst(7)) }.joined(separator: " ") }
        tell(
            "\(workers[index].name) asks partition \(message.lane.partition)\(settled)\(jobs ?? ": its lease has ended")\(isAnswered ? "" : "; the answer is lost")"
        )
        workers[index].take(
            [isAnswered ? .answered(message.lane, answer, after: .milliseconds(1)) : .unanswered(message.lane, .redis(RedisErrors.lost))],
            at: now)
    }

    /// A request to the origin ends.
    mutating func end(_ draw: inout Draw) {
        guard let index = any(&draw, where: { !$0.transfers.isEmpty && !$0.isFrozen }) else { return }
        let transfer = workers[index].transfers.remove(at: draw.below(workers[index].transfers.count))
        let job = transfer.job
        let content = OutcomeContent(url: job.url)
        var outcome = Settlement.Outcome.handedBack
        if !transfer.isCancelled {
            let mayRetry = job.failures < climate.retries
            outcome = draw.one(of: [
                (.fetched(content, Self.forLong), 14), (mayRetry ? .retry(content, after: .seconds(1)) : .failed(content, Self.forLong), 3),
                (.throttled(content, for: .seconds(1)), 1),
            ])
        }
        var bytes: Int?
        if case .fetched = outcome { bytes = 1000 }
        tell("the request of \(workers[index].name) for \(job.url.dropFirst(7)) ends: \("\(outcome)".prefix(10))")
        let report: WorkerReport? = transfer.isCancelled ? .handedBack(JobLabel(job)) : nil
        let conclusion = Conclusion(Settlement(job.token, job.id, outcome, host: transfer.isCancelled ? .none : .answered), report)
        if bytes != nil {
            workers[index].storing.append((job.token, conclusion))
            workers[index].take([.transferEnded(job.token, bytes: bytes)], at: now)
        } else {
            workers[index].take([.transferEnded(job.token, bytes: nil), .concluded(job.token, conclusion)], at: now)
        }
    }

    /// A body has its place. A job that needs none ends here, too.
    mutating func store(_ draw: inout Draw) {
        guard let index = any(&draw, where: { !$0.storing.isEmpty && !$0.isFrozen }) else { return }
        let (token, end) = workers[index].storing.remove(at: draw.below(workers[index].storing.count))
        workers[index].take([.concluded(token, end)], at: now)
    }
}
