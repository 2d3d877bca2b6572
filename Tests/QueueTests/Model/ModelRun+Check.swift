@testable import GannetQueue

/// The rules that hold after every step.
extension ModelRun {
    /// - Parameters:
    ///   - ending: The jobs that this step ended.
    ///   - settled: The URLs whose locks were settled in this step, and how.
    ///   - isCharged: Whether jobs that were taken from workers whose leases have ended are charged with that.
    func check(
        from before: StateLook, to after: StateLook, _ partition: Int, ending: Set<Int>, settled: [Bytes: ModelEnd], isCharged: Bool = true
    ) throws {
        if hasChanged {
            let problems = after.problems
            try Violation.require(problems.isEmpty, problems.prefix(3).joined(separator: "; "))
        }
        try checkLeases(after, partition)
        try checkJobs(after, partition, ending)
        try checkCharges(from: before, to: after, partition, settled, isCharged)
    }

    /// A lease that has ended is never revived.
    private func checkLeases(_ after: StateLook, _ partition: Int) throws {
        for (incarnation, end) in after.leases where end > Double(after.lived) {
            try Violation.require(!ended[partition].contains(incarnation), "a process has a lease again")
        }
        for (incarnation, end) in after.leases where end <= Double(after.lived) { ended[partition].insert(incarnation) }
    }

    /// No job is lost, and none comes back after its end.
    private func checkJobs(_ after: StateLook, _ partition: Int, _ ending: Set<Int>) throws {
        func isOver(_ job: JobRecord) -> Bool { after.queues[Self.queueNames[job.queue]]?.isOver(job.batch) ?? true }
        for serial in ending where jobs[serial]?.partition == partition {
            try Violation.require(after.places[serial] == nil && jobs[serial]?.hasEnded == false, "job \(serial) goes on after its end")
            end(serial)
        }
        for (serial, _) in after.places where !open[partition].contains(serial) {
            guard let job = jobs[serial], job.partition == partition else { continue }
            try Violation.require(isOver(job), "job \(serial) has come back")
        }
        for serial in open[partition] where after.places[serial] == nil {
            try Violation.require(jobs[serial].map(isOver) ?? false, "job \(serial) is lost")
            end(serial)
        }
    }

    /// Whether a job follows a URL in `look` whose batch goes on in `after`.
    /// - Parameters:
    ///   - names: Only jobs of these queues.
    ///   - other: A job that is only to be delivered in this other look does not count. Where that look is earlier, the job came back since.
    ///     The jobs of a dead worker come back in any order, and a URL's counts may have been forgotten before such a job began to follow
    ///     it. Where that look is later, the job got a known outcome meanwhile, and its URL's counts may have been forgotten then.
    private static func isWanted(
        _ id: Bytes, _ look: StateLook, _ after: StateLook, by names: Set<String>, besidesDeliveredIn other: StateLook
    ) -> Bool {
        look.queues.contains { name, queue in
            guard names.contains(name) else { return false }
            return queue.followers[id]?.contains { job in
                let serial = job.jobs.first?.serial
                let isDelivered = serial.flatMap { other.places[$0]?.kind } == .delivered
                return !isDelivered && !(after.queues[name]?.isOver(job.batch) ?? true)
            } ?? false
        }
    }

    /// Failures and crashes count on the URL, as long as somebody wants it.
    private func checkCharges(
        from before: StateLook, to after: StateLook, _ partition: Int, _ settled: [Bytes: ModelEnd], _ isCrashCharged: Bool
    ) throws {
        for (id, lock) in before.locks {
            let hasJob = lock.job.map { !(after.queues[lock.queue]?.isOver($0.batch) ?? true) } ?? false
            // A queue whose delivery was given up follows the URL, and is noted when one of its workers looks.
            let noted = Set(lock.followers.map(\.queue) + [lock.queue])
            if !hasJob, !Self.isWanted(id, before, after, by: noted, besidesDeliveredIn: after), let next = after.locks[id],
                next.token != lock.token, next.failures == 0, next.crashes == 0
            {
                // All jobs for the URL were cancelled or got a known outcome, and somebody else has begun anew. That may be in the call that
                // ended the last of them.
                charges[partition][id] = nil
                continue
            }
            if let end = settled[id] {
                if end.isEnd {
                    charges[partition][id] = nil
                } else if end.isCharged, lock.kind == "L" {
                    charges[partition][id, default: Charge()].failures += 1
                }
                continue
            }
            guard lock.kind.isHeld, after.locks[id]?.token != lock.token || after.locks[id]?.kind != lock.kind else { continue }
            // It was taken from its holder.
            let isDead = (before.leases[lock.incarnation] ?? 0) <= Double(after.lived)
            let isOverdue = lock.deadline <= after.lived
            let isCharged = isCrashCharged && isDead && lock.kind == "L"
            guard isCharged else { continue }
            var charge = charges[partition][id] ?? Charge()
            charge.crashes += 1
            // A call that takes the URL over from a request that hangs does not ask whether its worker has died as well.
            if isOverdue, after.locks[id]?.crashes != charge.crashes { charge.crashes -= 1 }
            charges[partition][id] = charge
        }
        for (id, charge) in charges[partition] {
            guard let lock = after.locks[id] else {
                let earlier = before.locks[id]
                let noted = Set((earlier?.followers.map(\.queue) ?? []) + [earlier?.queue ?? ""])
                try Violation.require(
                    !Self.isWanted(id, after, after, by: noted, besidesDeliveredIn: before) || charge == Charge(),
                    "URL \(id[7]) is wanted, and its \(charge.failures) attempts are forgotten")
                charges[partition][id] = nil
                continue
            }
            try Violation.require(
                lock.failures == charge.failures && lock.crashes == charge.crashes,
                "URL \(id[7]) has \(lock.failures) failures and \(lock.crashes) crashes instead of \(charge)")
        }
        for (id, lock) in after.locks where charges[partition][id] == nil {
            try Violation.require(
                lock.failures == 0 && lock.crashes == 0,
                "URL \(id[7]) has \(lock.failures) failures and \(lock.crashes) crashes for nothing")
        }
    }
}
