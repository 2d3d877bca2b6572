import GannetTestKit
import RedisClient

@testable import ClusterState

#if canImport(Glibc)
/// One course of operations on a real server and on the model.
struct ModelRun {
    let bench: ModelBench
    let cluster: ClusterState
    var model: Model
    var maker: CallMaker
    var look = StateLook()
    /// The calls so far, for people to read.
    var story: [String] = []
    /// When the claims of a round want the next claim: at once, or in how many milliseconds.
    var isMore = false
    var next: Int?
    /// The number of the operation under way.
    var position = 0

    init(_ bench: ModelBench, _ climate: ModelClimate) async throws {
        self.bench = bench
        cluster = ClusterState(bench.redis, namespace: ModelBench.namespace)
        model = Model(usual: climate.usual, hostPatience: climate.hostPatience, hosts: climate.hosts)
        maker = CallMaker(cluster: cluster, climate: climate)
        _ = try await bench.redis.send(RedisCommand("FLUSHALL"))
    }

    mutating func run(_ operations: [Operation]) async throws {
        for operation in operations {
            for call in maker.calls(for: operation, look, model) { try await perform(call) }
            position += 1
        }
        try await finish()
    }

    /// Makes a call, and compares the answer and the state after it with the model.
    mutating func perform(_ call: Call) async throws {
        story.append("\(call)")
        let before = look
        let (now, lived) = before.clock.reading(bench.wall)
        switch call {
        case .clock(let ms):
            bench.advance(ms)
            let (now, lived) = before.clock.reading(bench.wall)
            look = try await bench.look(now: now)
            var wanted = before
            // Redis forgets outcomes whose time is over, and remembers some of them again when its clock goes back.
            wanted.pages = look.pages
            try look.check(is: wanted, now: now)
            try model.checkInvariants(look, now: now, lived: lived)
            return
        case .crash:
            try await bench.crash()
            look = try await bench.look(now: now)
            try look.check(is: before, now: now)
            try Violation.equal(look.clock, before.clock, "the clocks")
            try model.checkInvariants(look, now: now, lived: lived)
            return
        case .death: return
        default: break
        }
        let check = try await make(call)
        look = try await bench.look(now: now)
        let heard = before.waiters.isEmpty && before.idle.isEmpty ? [] : try await bench.heard()
        try check(&model, Step(before: before, after: look, now: now, lived: lived, wall: bench.wall, heard: heard))
        try model.checkInvariants(look, now: now, lived: lived)
        model.freshRules = model.freshRules.filter { (look.hosts[$0]?.running ?? 0) > 0 }
    }

    typealias Check = (inout Model, Step) throws -> Void

    private mutating func make(_ call: Call) async throws -> Check {
        switch call {
        case .clock, .death, .crash: return { _, _ in }
        case .begin(let queue, let name, let options):
            let answer = try await cluster.queue(queueNames[queue]).begin(batch: name, options: options)
            return { try $0.check(begin: queue, name, options, answer, $1) }
        case .enqueue(let call): return try await enqueue(call)
        case .claim(let call):
            let answer = try await claim(call)
            return { try $0.check(claim: call, answer, $1) }
        case .settle(let call):
            let answers = try await settle(call)
            return { try $0.check(settle: call, answers, $1) }
        case .renew(let tokens):
            let lease = maker.climate.lease
            let lost = try await cluster.renew(tokens, lease: .milliseconds(lease))
            return { try $0.check(renew: tokens, lease: lease, lost: lost, $1) }
        case .move(let token, let host):
            let answer = try await cluster.move(token, to: "h\(host)", usual: model.usual)
            return { try $0.check(move: token, to: host, answer, $1) }
        case .acquire(let call):
            let answer = try await cluster.acquire(call.request)
            if case .leased(let token, _) = answer.fate {
                maker.hold(.init(token: token, url: call.url, kind: .caller, digest: 0, holder: "caller \(call.caller)"))
            }
            maker.answered(call, answer)
            return { try $0.check(acquire: call, answer, $1) }
        case .cancel(let key):
            let count = try await cluster.queue(queueNames[key.queue]).cancel(batch: key.number)
            return { try $0.check(cancel: key, count, $1) }
        case .pause(let queue, let isPaused):
            let was = try await isPaused ? cluster.queue(queueNames[queue]).pause() : cluster.queue(queueNames[queue]).resume()
            return {
                try Violation.equal(was, $0.isPaused[queue], "whether it was paused")
                $0.isPaused[queue] = isPaused
                try $1.after.check(is: $1.before, now: $1.now)
                if !isPaused { try $0.checkWoken(queue, 1000, $1) }
            }
        case .rule(let host, let rule):
            try await cluster.setRule(rule, for: "h\(host)")
            return {
                $0.rules[host] = rule
                $0.freshRules.insert(host)
                try $1.after.check(is: $1.before, now: $1.now)
            }
        case .reclaim(let queue):
            let count = try await cluster.queue(queueNames[queue]).reclaimAll()
            return { try $0.check(reclaim: queue, count, $1) }
        case .beat(let queue, let worker, let leaves):
            let state = cluster.queue(queueNames[queue])
            if leaves { try await state.leave("w\(worker)") } else { _ = try await state.beat("w\(worker)", .ofTest) }
            let seen = try await state.overview()
            return {
                try $1.after.check(is: $1.before, now: $1.now)
                try $0.check(overview: seen, of: queue, $1)
            }
        case .sweep(let call):
            let answer = try await sweep(call)
            return {
                $0.hasDeleted = true
                try $0.check(sweep: call, answer, $1)
            }
        }
    }

    private func sweep(_ call: SweepCall) async throws -> JobSweep {
        let queue = cluster.queue(queueNames[call.queue])
        let filter = JobFilter(host: call.host.map { "h\($0)" })
        switch call.jobs {
        case .line(let line, let before, let looks, let behind):
            return try await queue.delete(
                from: line.list, before: before, filter, enqueuedUntil: 1 << 52, limit: call.limit, looks: looks, behind: behind)
        case .delayed(let action): return try await queue.sweepDelayed(from: 0, filter, action, limit: call.limit)
        case .dead(let action):
            return try await queue.sweepDead(from: 0, filter, action, diedUntil: 1 << 52, limit: call.limit)
        }
    }

    private func enqueue(_ call: EnqueueCall) async throws -> Check {
        let entries = try call.jobs.map { job in
            let host = "h\(model.host(of: job.url))"
            return try JobEntry(id: QueueFixture.id(job.url), host: host, url: "http://\(host)/\(job.url)?\(job.serial)")
        }
        let answer = await Self.outcome { () throws(StateError) in
            try await cluster.queue(queueNames[call.batch.queue]).enqueue(
                entries, batch: call.batch.number, from: call.from, to: call.to, closing: call.isClosing, delay: .milliseconds(call.delay))
        }
        if case .failure(.redis(let error)) = answer { throw error }
        return { try $0.check(enqueue: call, answer, $1) }
    }

    private static func outcome<Answer>(_ body: () async throws(StateError) -> Answer) async -> Result<Answer, StateError> {
        do throws(StateError) { return .success(try await body()) } catch { return .failure(error) }
    }

    private mutating func claim(_ call: ClaimCall) async throws -> Claim {
        var request = ClaimRequest(call.limit, lease: .milliseconds(call.lease), nonce: call.nonce, worker: "w\(call.worker)")
        request.inbox = call.listens ? cluster.inbox(of: "w\(call.worker)") : nil
        request.host = model.usual
        let answer = try await cluster.queue(queueNames[call.queue]).claim(request)
        isMore = answer.isMore || isMore
        if let wait = answer.next?.wholeMilliseconds { next = min(next ?? wait, wait) }
        for job in answer.jobs {
            maker.hold(
                .init(
                    token: job.token, url: Self.url(of: job), kind: job.outcome == nil ? .job : .delivery,
                    digest: job.outcome?.content.digest.map { Int($0[0]) } ?? 0, holder: "worker \(call.worker)"))
        }
        return answer
    }

    static func url(of job: Job) -> Int { Int(job.entry.id.bytes[7]) }

    private func settle(_ call: SettleCall) async throws -> [SettleAnswer] {
        let settlements = call.items.map {
            Settlement($0.token, QueueFixture.id($0.url), $0.outcome, host: $0.host, bytes: $0.bytes)
        }
        guard let queue = call.queue else { return try await cluster.settle(settlements, random: call.random) }
        return try await cluster.queue(queueNames[queue]).settle(
            settlements, claimsAgain: call.claimsAgain, hostPatience: .milliseconds(model.hostPatience), random: call.random)
    }
}
#endif
