import GannetRedisClient
import GannetTestKit

@testable import GannetQueue

/// Exchanges of workers, and what the rules say of their answers.
extension ModelRun {
    struct End {
        let job: Job
        let end: ModelEnd?
        let settlement: Settlement
    }

    /// A worker settles some of its jobs and asks for others.
    func exchange(_ index: Int, _ draw: inout Draw) async throws {
        let partition = draw.below(climate.partitions)
        var ends: [End] = []
        for job in workers[index].held where job.partition == partition && draw.chance(60) { ends.append(end(of: job, &draw)) }
        let early = workers[index].held.filter {
            climate.leavesEarly && $0.partition == partition && $0.outcome == nil && draw.chance(20)
        }
        let (wanted, spare, random) = (draw.one(of: climate.wanted + [0]), draw.one(of: [0, 0, 0, 3]), Double(draw.below(100)) / 100)
        let news = workers[index].held.filter {
            climate.answersBefore && $0.partition == partition && $0.outcome == nil && draw.chance(20)
        }
        try await exchange(index, in: partition, ends, early: early, news: news, wanted: wanted, spare: spare, random: random)
    }

    func end(of job: Job, _ draw: inout Draw, _ wished: ModelEnd? = nil) -> End {
        if job.outcome != nil {
            let outcome = draw.one(of: [
                (Settlement.Outcome.delivered, 8), (.handedBack, 1), (.bodyMissing(digest: [UInt8](repeating: 7, count: 32)), 1),
            ])
            return End(
                job: job, end: nil, settlement: Settlement(job.token, job.id, wished == nil ? outcome : .delivered, isDelivery: true))
        }
        let end = job.isPoison || job.isHopeless ? .failed : wished ?? draw.one(of: climate.ends)
        let host = job.isPoison || job.isHopeless ? .none : end.host(&draw)
        return End(job: job, end: end, settlement: Settlement(job.token, job.id, end.outcome(job.url, &draw), host: host))
    }

    func exchange(
        _ index: Int, in partition: Int, _ ends: [End], early: [Job] = [], news: [Job] = [], wanted: Int, spare: Int = 0,
        random: Double = 0.5,
        namesHeld: Bool = false
    ) async throws {
        var worker = workers[index]
        worker.exchanges[partition] += 1
        var request = ExchangeRequest(worker.incarnation, number: worker.exchanges[partition], lease: .milliseconds(worker.lease))
        request.settlements = ends.map(\.settlement)
        let held = Set(worker.held.filter { $0.outcome == nil }.map(\.id))
        let free = worker.places.filter { $0.partition == partition && !held.contains($0.id) }
        request.settlements += free.map { Settlement($0.token, $0.id, .leftPlace, host: .none) }
        request.settlements += early.map { Settlement($0.token, $0.id, .leftPlace, host: .answered) }
        request.settlements += news.map { Settlement($0.token, $0.id, .hostAnswered, host: .answered) }
        worker.places.removeAll { place in place.partition == partition && early.contains { $0.id == place.id } }
        worker.places.removeAll { place in free.contains { $0.token == place.token && $0.partition == place.partition } }
        request.wanted = wanted
        request.spare = spare
        request.longestHold = .milliseconds(climate.longestHold)
        request.host = HostRule(limit: climate.limit, interval: .milliseconds(climate.interval), first: climate.first)
        request.hostPatience = HostPatience(.milliseconds(climate.patience), probes: climate.probes)
        request.giveUpAfter = .milliseconds(climate.giveUpAfter)
        request.mostDead = 5
        request.random = random
        if namesHeld { request.held = names(of: worker, in: partition) }
        let before = looks[partition]
        guard let answer = try await cluster.queue(Self.queueNames[worker.queue]).exchange(request, in: cluster.partitions[partition])
        else {
            // The process goes on as another one, and settles what it still has.
            story.append("the lease of \(worker.name) has ended")
            births += 1
            let held = worker.held
            worker = Worker(
                name: "w\(births)", queue: worker.queue, incarnation: Incarnation(UInt64(births)), lease: worker.lease,
                exchanges: Array(repeating: 0, count: climate.partitions))
            worker.held = held
            workers[index] = worker
            let isLate = before.leases[workers[index].incarnation.bytes] == nil
            try Violation.require(isLate, "another incarnation has a lease already")
            return
        }
        let gone = Set(ends.map(\.job.token))
        worker.held.removeAll { gone.contains($0.token) }
        worker.held += answer.jobs
        worker.last = (request, answer, partition)
        workers[index] = worker
        story.append(
            "\(worker.name) of \(Self.queueNames[worker.queue]) ends "
                + zip(ends, answer.verdicts).map { "\($0.job.url.dropFirst(7)) \($0.end?.rawValue ?? "delivery") \($1)" }.joined(
                    separator: ", ")
                + " and asks for \(wanted)+\(spare): "
                + answer.jobs.map { "\($0.url.dropFirst(7))\($0.outcome == nil ? "" : " known")" }.joined(separator: " ")
                + " (next \(answer.next.map { "\($0)" } ?? "nil")\(answer.isMore ? ", more" : ""))")
        let after = try await look(partition)
        try Violation.require(answer.left != .missing, "jobs are called missing, and none was lost")
        try check(verdicts: answer.verdicts, ends, before, after)
        var settled: [Bytes: ModelEnd] = [:]
        var ending: Set<Int> = []
        var back: [Bytes: [Int]] = [:]
        for (end, verdict) in zip(ends, answer.verdicts) where verdict == .settled {
            if let how = end.end {
                settled[end.job.id.bytes] = how
            } else if let serial = StateLook.serial(end.job.url) {
                if case .delivered = end.settlement.outcome {
                    ending.insert(serial)
                } else {
                    back[end.job.id.bytes, default: []].append(serial)
                }
            }
        }
        try check(from: before, to: after, partition, ending: ending.union(late(settled, before, after, back)), settled: settled)
        try check(worker, request, answer, before, after, Set(settled.keys))
        answered.formUnion(ends.filter { $0.settlement.host == .answered }.map(\.job.host) + (early + news).map(\.host))
        try checkNews(ends, early + news, before, after)
        let served = Served(partition: partition, request: request, answer: answer, worker: worker, before: before, after: after)
        try checkOrder(served)
        try checkShares(served)
        try checkTurns(served)
        // Jobs that the state has taken back are held for nothing.
        let known = worker.held.filter { $0.partition == partition }.count + worker.places.filter { $0.partition == partition }.count
        if !namesHeld, answer.held != known {
            workers[index].held.removeAll { job in
                job.partition == partition
                    && (job.outcome == nil ? after.locks[job.id.bytes]?.token != job.token.bytes : !after.isDelivering(job.token.bytes))
            }
            let before = workers[index].held.count
            try await exchange(index, in: partition, [], wanted: 0, namesHeld: true)
            try Violation.require(workers[index].held.count == before, "a worker that named what it holds has lost it")
        }
    }

    private func names(of worker: Worker, in partition: Int) -> [Holding] {
        worker.held.filter { $0.partition == partition }.map { $0.outcome == nil ? .lock($0.id) : .delivery($0.token) }
            + worker.places.filter { $0.partition == partition }.map { .place($0.id) }
            // A place at another host of the same partition goes with its lock.
            + worker.held.filter { $0.partition == partition && $0.outcome == nil }.map { .place($0.id) }
    }

    static func serial(_ job: Job) -> Int { StateLook.serial(job.url) ?? -1 }

    /// The jobs that ended with URLs' requests: those of their locks, or of a follower whose worker came too late.
    /// - Parameter back: Deliveries that were handed back in the same step, by URL. They may be the first followers by then.
    func late(_ settled: [Bytes: ModelEnd], _ before: StateLook, _ after: StateLook, _ back: [Bytes: [Int]] = [:]) -> Set<Int> {
        var serials: Set<Int> = []
        for (id, end) in settled where end.isEnd {
            guard let lock = before.locks[id] else { continue }
            if let serial = lock.job?.jobs.first?.serial { serials.insert(serial) }
            guard lock.kind == "W" else { continue }
            // The job is the first of its queue's followers, and is marked as one that came back.
            for (name, _) in lock.followers {
                guard let queue = before.queues[name], let first = queue.followers[id]?.first, first.flags & 32 != 0 else { continue }
                if !queue.isOver(first.batch), let serial = first.jobs[0].serial {
                    serials.insert(back[id]?.last { after.places[$0] == nil } ?? serial)
                }
                break
            }
        }
        return serials
    }

    /// The same exchange again has the same answer, and changes nothing. Only the first exchange of a process that was forgotten is made anew.
    func repeatExchange(_ index: Int) async throws {
        guard let last = workers[index].last, last.request.number > 1, last.request.number == workers[index].exchanges[last.partition]
        else { return }
        let before = looks[last.partition]
        let answer = try await cluster.queue(Self.queueNames[workers[index].queue]).exchange(
            last.request, in: cluster.partitions[last.partition])
        story.append("\(workers[index].name) repeats its last exchange")
        let after = try await look(last.partition)
        try check(from: before, to: after, last.partition, ending: [], settled: [:])
        guard let answer else { return }
        try Violation.require(answer.verdicts == last.answer.verdicts, "a repeated exchange has other verdicts")
        // A repetition does not hand out jobs that were taken back meanwhile.
        let still = last.answer.jobs.filter { job in
            guard job.outcome == nil else { return after.isDelivering(job.token.bytes) }
            let lock = after.locks[job.id.bytes]
            return lock?.kind == "L" && lock?.token == job.token.bytes
        }
        try Violation.require(
            Set(answer.jobs.map(\.token)).isSuperset(of: still.map(\.token))
                && Set(answer.jobs.map(\.token)).isSubset(of: last.answer.jobs.map(\.token)),
            "a repeated exchange has other jobs")
        for (serial, place) in after.places where place.isHeld && before.places[serial]?.isHeld != true {
            throw Violation(description: "a repeated exchange handed job \(serial) out anew")
        }
    }

    // MARK: Rules

    private func check(verdicts: [Verdict], _ ends: [End], _ before: StateLook, _ after: StateLook) throws {
        for (end, verdict) in zip(ends, verdicts) {
            guard ends.filter({ $0.job.id == end.job.id }).count == 1 else { continue }
            let token = end.job.token.bytes
            var wanted = Verdict.lost
            if end.end == nil {
                wanted = before.isDelivering(token) ? .settled : .lost
            } else if let lock = before.locks[end.job.id.bytes], lock.token == token {
                wanted = lock.kind.isHeld || end.end!.isFetch ? .settled : .lost
            } else if end.end!.isFetch {
                let lock = before.locks[end.job.id.bytes].flatMap { $0.kind.isHeld ? $0.token : nil }
                let outcome = after.outcomes[end.job.id.bytes].map { Array($0[2..<18]) }
                if let other = lock ?? outcome, token.prefix(8).lexicographicallyPrecedes(other.prefix(8)) { wanted = .fenced }
            }
            try Violation.require(verdict == wanted, "the verdict on \(end.job.url) is \(verdict) and not \(wanted)")
        }
    }

    private func satisfies(_ outcome: Bytes, _ job: StateLook.Jobs, _ batch: [String: String], _ now: Int) -> Bool {
        guard let outcome = URLOutcome(outcome) else { return false }
        if outcome.began >= job.enqueued { return true }
        if batch["refresh"] == "1" { return false }
        if outcome.ended >= job.enqueued { return true }
        if !outcome.isStored { return false }
        if let age = batch["maxAge"].flatMap({ Int($0) }), age >= 0 { return now - outcome.ended <= age }
        return outcome.freshUntil > now
    }

    private func check(
        _ worker: Worker, _ request: ExchangeRequest, _ answer: ExchangeAnswer, _ before: StateLook, _ after: StateLook,
        _ settled: Set<Bytes>
    ) throws {
        let name = Self.queueNames[worker.queue]
        guard let queue = after.queues[name] else { return }
        let now = after.wall + after.shift
        var handed: [String: Int] = [:]
        try Violation.require(answer.jobs.isEmpty || !isPaused[worker.queue], "a paused queue handed jobs out")
        let most = request.wanted + request.spare
        try Violation.require(answer.jobs.count { $0.outcome == nil } <= most, "more jobs came than were wanted")
        try Violation.require(answer.jobs.count <= min(256, 2 * most), "more jobs with nothing to fetch came than may")
        for job in answer.jobs {
            let serial = Self.serial(job)
            guard let record = jobs[serial] else { throw Violation(description: "job \(serial) was never accepted") }
            try Violation.require(
                record.queue == worker.queue && !record.hasEnded && !queue.isOver(record.batch), "job \(serial) was not to be handed out")
            guard let batch = queue.batches[record.batch] else { continue }
            let place = after.places[serial]
            if job.outcome != nil {
                try Violation.require(place?.kind == .delivered, "a delivery is held by nobody")
                guard let bytes = after.outcomes[job.id.bytes] else { throw Violation(description: "a delivery has no outcome") }
                let block = StateLook.Jobs(kind: 64, batch: job.batch, enqueued: job.enqueued, host: job.host, jobs: [])
                try Violation.require(satisfies(bytes, block, batch, now), "a job gets an outcome that is too old for it")
                continue
            }
            guard let lock = after.locks[job.id.bytes], lock.kind == "L", lock.token == job.token.bytes, let block = lock.job else {
                throw Violation(description: "job \(serial) was handed out without its lock")
            }
            if let bytes = after.outcomes[job.id.bytes] {
                try Violation.require(!satisfies(bytes, block, batch, now), "a URL is fetched whose outcome is there")
            }
            if let earlier = before.locks[job.id.bytes], earlier.kind.isHeld, !settled.contains(job.id.bytes) {
                let isOver = (before.leases[earlier.incarnation] ?? 0) <= Double(after.lived) || earlier.deadline <= after.lived
                try Violation.require(isOver || request.held != nil, "a URL was handed out while somebody else had it")
            }
            try Violation.require(
                job.failures == lock.failures && job.crashes == lock.crashes, "job \(serial) is told other attempts than its URL has")
            if !job.isHopeless { handed[job.host, default: 0] += 1 }
            let isOver = climate.giveUpAfter > 0 && job.throttled >= .milliseconds(climate.giveUpAfter)
            // While a host that is given up is probed, its jobs wait for that. They wait for no request that it had before.
            let (earlier, host) = (before.hosts[job.host], after.hosts[job.host])
            let endsWithRequest = earlier.map { $0.running > 0 && $0.probing != 2 } ?? false
            let isGivenUp = host.map { $0.probing == 3 || $0.probing == 2 && ($0.cool > now || endsWithRequest) } ?? false
            try Violation.require(
                job.isPoison || !job.isHopeless || isOver || isGivenUp,
                "job \(serial) fails, and nobody gave it up")
            try Violation.require(
                job.isPoison || job.isHopeless || !isOver, "job \(serial) was put off for too long, and its host is asked")
        }
        let isAlone = gotLone(answer, worker, before, after)
        for (name, number) in handed { try check(number, at: name, worker, isAlone: isAlone, before, after, now) }
        // A timer that this call has set to now is for the next call, which the answer asks for at once.
        let isHeldBack = after.isHeldBack(worker.incarnation.bytes, in: Self.queueNames[worker.queue])
        if request.spare == 0, answer.jobs.count < request.wanted, !answer.isMore, answer.next != .zero, !isPaused[worker.queue],
            !isHeldBack
        {
            try checkNothingCanRun(queue, worker, after, now)
        }
    }

    /// Whether an exchange brought a URL that waited for a worker which has nothing else. Such a URL waits at its host like a queue of its own.
    func gotLone(_ answer: ExchangeAnswer, _ worker: Worker, _ before: StateLook, _ after: StateLook) -> Bool {
        if after.suspects(of: worker.incarnation.bytes) == StateLook.alone { return true }
        let waiting = (before.queues[Self.queueNames[worker.queue]]?.aside ?? [:]).filter { $0.key.hasSuffix(":!") }.values.joined().map(
            \.id)
        return answer.jobs.contains { waiting.contains($0.id.bytes) }
    }

    /// Hosts' limits, rests and turns.
    private func check(
        _ number: Int, at name: String, _ worker: Worker, isAlone: Bool, _ before: StateLook, _ after: StateLook, _ now: Int
    ) throws {
        guard let host = after.hosts[name] else { throw Violation(description: "\(name) has requests and no record") }
        try Violation.require(host.running <= climate.limit, "\(name) has \(host.running) requests, and its limit is \(climate.limit)")
        try Violation.require(
            host.running <= climate.first << host.earned, "\(name) has \(host.running) requests, and has \(host.earned) answers")
        try Violation.require(host.cool <= now, "\(name) rests, and was asked")
        try Violation.require(host.probing == 0 || host.running == 1, "\(name) is probed by \(host.running) requests")
        if climate.interval > 0 {
            try Violation.require(number == 1 && before.hosts[name]?.next ?? 0 <= now, "\(name) was asked too soon")
        }
        if let earlier = before.hosts[name], let first = earlier.waiting.first, first != Self.queueNames[worker.queue], !isAlone {
            try Violation.require(earlier.offered > 0 && earlier.offered <= now, "queue \(first) had the turn at \(name)")
        }
    }

    /// A host earns once for each answer. A host that never answered is given up after the climate's number of probes, and no sooner.
    private func checkNews(_ ends: [End], _ early: [Job], _ before: StateLook, _ after: StateLook) throws {
        guard !hasMoved else { return }
        for (name, host) in after.hosts {
            let earlier = before.hosts[name]
            let answers = ends.count { $0.settlement.host == .answered && $0.job.host == name } + early.count { $0.host == name }
            try Violation.require(
                host.earned <= (earlier?.earned ?? 0) + answers, "\(name) earned \(host.earned) times, and \(answers) answers came")
            guard climate.probes > 0, host.failures > earlier?.failures ?? 0, !answered.contains(name) else { continue }
            let isGivenUp = host.probing >= 2
            let told = "\(name) never answered \(host.failures) requests, and"
            try Violation.require(isGivenUp || host.failures < climate.probes, "\(told) is waited for")
            try Violation.require(!isGivenUp || host.failures >= climate.probes || climate.patience > 0, "\(told) is given up")
        }
    }

    func hasRoom(_ name: String, _ worker: Worker, _ look: StateLook, _ now: Int) -> Bool {
        guard let host = look.hosts[name] else { return true }
        guard host.waiting.allSatisfy({ $0 == Self.queueNames[worker.queue] }) else { return false }
        return host.running < (host.probing > 0 ? 1 : min(climate.limit, climate.first << host.earned)) && host.cool <= now
            && host.next <= now
    }

    /// Whether a host rests, and has been silent or has asked for rests for longer than anybody waits. Queues look at it in their turns, and
    /// wait for these also where it may be probed.
    private func isOver(_ name: String, _ worker: Worker, _ look: StateLook, _ now: Int) -> Bool {
        guard let host = look.hosts[name], host.down > 0, host.cool > now else { return false }
        // After a probe that failed, each queue fails its jobs in its turn.
        if host.offered > now, host.waiting.first != Self.queueNames[worker.queue] { return false }
        let patience = host.failures > 0 ? climate.patience : climate.giveUpAfter
        return patience > 0 && host.down + patience + Self.queueNames.count * Self.turn < now
    }

    /// A job is handed out while one can run.
    private func checkNothingCanRun(_ queue: StateLook.Queue, _ worker: Worker, _ look: StateLook, _ now: Int) throws {
        for (priority, blocks) in queue.ready {
            for block in blocks where !queue.isOver(block.batch) {
                try Violation.require(
                    !hasRoom(block.host, worker, look, now), "a \(priority) job at \(block.host) could run, and was not handed out")
            }
        }
        for (place, elements) in queue.aside where !place.hasSuffix(":?") && !place.hasSuffix(":!") {
            let host = String(place.split(separator: ":", maxSplits: 1)[1])
            let isOpen = elements.contains {
                $0.jobs.map { !queue.isOver($0.batch) } ?? (look.locks[$0.id].map { !$0.kind.isHeld } ?? true)
            }
            try Violation.require(!isOpen || !isOver(host, worker, look, now), "a job at \(host) waits for longer than anybody wanted")
            try Violation.require(
                !isOpen || !hasRoom(host, worker, look, now),
                "a job aside at \(host) could run at \(now), and was not handed out: \(look.hosts[host] as Any) \(elements) "
                    + queue.timers.values.joined().map { "\(StateDump.shown($0.key)) \($0.value)" }.joined(separator: ", "))
        }
        let suspects = look.suspects(of: worker.incarnation.bytes)
        let hasNothing = look.holders[worker.incarnation.bytes]?.keys.allSatisfy { $0.count < 16 } ?? true
        for (place, elements) in queue.aside where place.hasSuffix(":!") && hasNothing {
            for (_, id) in elements {
                guard let first = queue.followers[id]?.first, !queue.isOver(first.batch), let lock = look.locks[id], lock.kind == "W",
                    lock.began <= now
                else { continue }
                try Violation.require(!hasRoom(first.host, worker, look, now), "a URL with two crashes could run, and was not handed out")
            }
        }
        for (place, elements) in queue.aside where place.hasSuffix(":?") {
            // The first of them is the next.
            for (_, id) in elements {
                guard let first = queue.followers[id]?.first, !queue.isOver(first.batch), let lock = look.locks[id], lock.kind == "W",
                    lock.began <= now
                else { continue }
                let fits = suspects + lock.weight <= StateLook.mostSuspects
                try Violation.require(!fits || !hasRoom(first.host, worker, look, now), "a suspect could run, and was not handed out")
                break
            }
        }
        for timers in queue.timers.values {
            for (member, at) in timers where at <= Double(now) && member.first != UInt8(ascii: "h") {
                throw Violation(description: "a timer of \(StateDump.shown(member)) was due, and nobody looked at it")
            }
        }
    }
}
