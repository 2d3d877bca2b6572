@testable import GannetQueue

/// Which jobs go first.
extension ModelRun {
    /// Jobs of a queue that were handed out in a row, while a priority had others that could run: how many, and how many of that priority.
    struct Share {
        var all = 0
        var own = 0
    }

    /// A queue had jobs aside at a host, and its worker came and got none of them.
    struct VainVisit {
        let at: Int
        /// How often the other queue got a place there since.
        var others = 0
    }

    /// An exchange, with the state before and after it.
    struct Served {
        let partition: Int
        let request: ExchangeRequest
        let answer: ExchangeAnswer
        let worker: Worker
        let before: StateLook
        let after: StateLook

        var now: Int { after.wall + after.shift }
    }

    /// A job that came back is served before jobs of its priority that never ran. A URL that its host put off leaves the next probe to
    /// another one.
    func checkOrder(_ served: Served) throws {
        let (before, after, worker) = (served.before, served.after, served.worker)
        let name = Self.queueNames[worker.queue]
        guard let earlier = before.queues[name], let queue = after.queues[name] else { return }
        let hasSuspects = after.suspects(of: worker.incarnation.bytes) > 0
        /// The host of a URL that waits for its next attempt since before this call; `nil` where this worker may not make the attempt.
        func hostToAsk(_ id: Bytes) -> String? {
            guard let lock = after.locks[id], lock.kind == "W", before.locks[id]?.kind == "W", lock.began <= served.now,
                !(lock.isSuspect && hasSuspects), lock.weight < StateLook.alone, !lock.isPutOffByHost,
                let first = queue.followers[id]?.first, !queue.isOver(first.batch),
                // Jobs that met the URL in this call have not come back.
                earlier.followers[id]?.contains(where: { $0.jobs.map(\.rest) == first.jobs.map(\.rest) }) == true
            else { return nil }
            return first.host
        }
        for job in served.answer.jobs where job.outcome == nil && !job.isHopeless {
            guard let number = queue.batches[job.batch]?["priority"].flatMap({ Int($0) }), let place = before.places[Self.serial(job)]
            else {
                continue
            }
            let priority = StateLook.priorities[number - 1]
            let aside = "\(priority):\(job.host)"
            let due = earlier.due(priority, at: served.now).lazy.flatMap(\.jobs).compactMap(\.serial)
            if place.kind == .delayed, !due.contains(Self.serial(job)) {
                throw Violation(description: "job \(Self.serial(job)) was handed out before the end of its delay")
            }
            // A listed job begins anew where all jobs that waited for its URL were cancelled: nobody remembers then that the URL was put off.
            if place.kind == .follower, before.locks[job.id.bytes]?.isPutOffByHost == true, after.hosts[job.host]?.probing == 1 {
                try checkProbe(job, earlier, queue, served)
            }
            guard [.ready, .aside, .delayed].contains(place.kind) else { continue }
            for (member, at) in earlier.timers[priority] ?? [:] where member.first == UInt8(ascii: "u") && at <= Double(served.now) {
                let id = Array(member.dropFirst())
                guard let host = hostToAsk(id), host == job.host || hasRoom(host, worker, after, served.now) else { continue }
                throw Violation(description: "job \(Self.serial(job)) went before URL \(id[7]) that had come back")
            }
            // A host that is probed leaves what it put off aside.
            guard after.hosts[job.host]?.probing ?? 0 == 0 else { continue }
            if place.kind == .ready, let block = queue.due(priority, at: served.now).first(where: { !queue.isOver($0.batch) }) {
                throw Violation(description: "job \(Self.serial(job)) went before a delayed job at \(block.host) that was due")
            }
            for element in queue.aside[aside] ?? [] where element.jobs == nil && hostToAsk(element.id) != nil {
                guard earlier.aside[aside]?.contains(where: { $0.id == element.id }) == true else { continue }
                throw Violation(description: "job \(Self.serial(job)) went before URL \(element.id[7]) that had come back and stood aside")
            }
        }
    }

    /// No other job that stood aside could have had the probe that a URL put off by its host has got.
    private func checkProbe(_ job: Job, _ earlier: StateLook.Queue, _ queue: StateLook.Queue, _ served: Served) throws {
        let member = [UInt8(ascii: "u")] + job.id.bytes
        guard let priority = StateLook.priorities.first(where: { earlier.timers[$0]?[member] != nil }) else { return }
        for element in queue.aside["\(priority):\(job.host)"] ?? [] {
            guard let block = element.jobs, !queue.isOver(block.batch) else { continue }
            let others = block.jobs.filter { served.after.locks[$0.id] == nil && served.after.outcomes[$0.id] == nil }
            for other in others.compactMap(\.serial) where served.before.places[other]?.kind == .aside {
                throw Violation(
                    description: "URL \(job.id.bytes[7]) was put off by its host, and took the next probe before job \(other)")
            }
        }
    }

    /// Priorities share what is handed out six to three to one, as far as they have jobs that could run.
    func checkShares(_ served: Served) throws {
        let (answer, worker) = (served.answer, served.worker)
        let name = Self.queueNames[worker.queue]
        guard !answer.jobs.isEmpty, let earlier = served.before.queues[name], let queue = served.after.queues[name] else { return }
        // Jobs with nothing to fetch come besides, and jobs to start later only from some hosts. A call that found less than it wanted has
        // found all that could run, or all it may look at.
        guard served.request.spare == 0, answer.jobs.count == served.request.wanted, answer.jobs.allSatisfy({ $0.outcome == nil }) else {
            shares[served.partition][worker.queue] = [:]
            return
        }
        var handed: [String: Int] = [:]
        for job in answer.jobs {
            guard let number = queue.batches[job.batch]?["priority"].flatMap({ Int($0) }) else { return }
            // A URL that came back has the turn of the priority that it waits under, also where its first job is of another one. A URL that
            // came back in this call waits under the priority of its first job, or of a follower that met it before it was handed out. A
            // follower that met it afterwards leaves the same state. So either priority may have had the turn, and the job counts for both.
            let member = [UInt8(ascii: "u")] + job.id.bytes
            func priority(in look: StateLook.Queue) -> String? { StateLook.priorities.first { look.timers[$0]?[member] != nil } }
            let own = StateLook.priorities[number - 1]
            let isOnList = [.ready, .aside, .delayed].contains(served.before.places[Self.serial(job)]?.kind)
            // A listed job is served in its own priority's turn. If its URL is locked, the job waits with the others for that URL, unless this
            // call has ended the lock before. The job counts for both then.
            let isFree = isOnList && served.before.locks[job.id.bytes] == nil
            let waited = isFree ? nil : priority(in: earlier)
            let later = isOnList || waited != nil ? nil : priority(in: queue)
            for turn in Set([waited ?? own, isOnList ? own : later ?? waited ?? own]) { handed[turn, default: 0] += 1 }
        }
        for (priority, turns) in zip(StateLook.priorities, [6, 3, 1]) {
            let couldRun = ((queue.ready[priority] ?? []) + queue.due(priority, at: served.now)).contains {
                !queue.isOver($0.batch) && hasRoom($0.host, worker, served.after, served.now)
            }
            guard couldRun else {
                shares[served.partition][worker.queue][priority] = nil
                continue
            }
            var share = shares[served.partition][worker.queue][priority] ?? Share()
            share.all += answer.jobs.count
            share.own += handed[priority] ?? 0
            shares[served.partition][worker.queue][priority] = share
            try Violation.require(
                share.own >= share.all / 10 * turns,
                "\(priority) jobs of queue \(name) could run, and were \(share.own) of \(share.all)")
        }
    }

    /// Queues that want the same host take turns. A turn is kept for a quarter of a second.
    func checkTurns(_ served: Served) throws {
        let (partition, mine) = (served.partition, served.worker.queue)
        func hasAside(_ queue: Int, _ host: String) -> Bool {
            guard let queue = served.after.queues[Self.queueNames[queue]] else { return false }
            return queue.aside.contains { place, elements in
                place.hasSuffix(":\(host)") && elements.contains { $0.jobs.map { !queue.isOver($0.batch) } ?? true }
            }
        }
        let visited = Set(served.answer.jobs.map(\.host))
        for host in visited { visits[partition][mine][host] = nil }
        // Jobs that are only delivered take no place.
        let isAlone = gotLone(served.answer, served.worker, served.before, served.after)
        for host in Set(served.answer.jobs.filter { $0.outcome == nil && !$0.isHopeless && !isAlone }.map(\.host)) {
            guard var visit = visits[partition][1 - mine][host] else { continue }
            visit.others += 1
            let isWaiting = served.now < visit.at + 250 && hasAside(1 - mine, host)
            visits[partition][1 - mine][host] = isWaiting ? visit : nil
            try Violation.require(
                !isWaiting || visit.others < 2,
                "queue \(Self.queueNames[mine]) had two turns at \(host), and the queue that waited there had none")
        }
        let isOpen = !isPaused[mine] && served.request.spare == 0 && served.answer.jobs.count < served.request.wanted
        guard isOpen, !served.answer.isMore, !served.after.isHeldBack(served.worker.incarnation.bytes, in: Self.queueNames[mine]) else {
            return
        }
        for host in (0..<climate.hosts).map({ host(of: $0) }) where !visited.contains(host) && hasAside(mine, host) {
            if served.now >= (visits[partition][mine][host]?.at ?? 0) + 250 { visits[partition][mine][host] = VainVisit(at: served.now) }
        }
    }
}
