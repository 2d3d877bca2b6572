@testable import ClusterState

/// One claim as it is checked, after the ended leases were taken back.
struct ClaimCourse {
    let call: ClaimCall
    let answer: Claim
    let mended: StateLook
    let step: Step
    /// How many requests start, by host.
    var starts: [Int: Int] = [:]
    /// The tokens of retries that ended or met their host's limit, by the URL that they let go of.
    var released: [Int: Token] = [:]
    /// URLs that a retry must have let go of, because other jobs went on as if it had.
    var letGo: Set<Int> = []
    /// Orphaned chains that have given a job to its queue.
    var orphans: Set<Int> = []
    /// Tokens of retries that have been served.
    var goneTokens: Set<Token> = []

    func freed(_ chain: Int) -> FreedLook? { mended.freed.first { $0.chain == chain } }

    /// Whether the URL was locked before any job was served.
    func isLocked(_ url: Int, butBy own: Token?) -> Bool {
        guard let lock = mended.locks[url], lock != own else { return false }
        return mended.isLive(lock, lived: step.lived)
    }
}

extension Model {
    /// Whether a job may go where it went.
    mutating func check(job serial: Int, _ course: inout ClaimCourse) throws(Violation) {
        guard let from = course.mended.jobs[serial] else {
            throw Violation(description: "job \(serial) was nowhere, and is at \(course.step.after.jobs[serial]!.place)")
        }
        let to = course.step.after.jobs[serial]?.place
        let isServed = from.record.queue == course.call.queue && !isPaused[course.call.queue]
        var why: String?
        switch from.place {
        case .leased: why = "its lease had not ended"
        case .line(.parked(let url)):
            // Only a retry that lets go of the URL sends its followers away.
            if case .line(.chain)? = to {
                course.letGo.insert(url)
                return
            }
            why = "the URL's flight has not ended"
        case .line(.chain(let number)): why = try follow(serial, course.freed(number)!, from, to, isServed, &course)
        case .later(let due, let token):
            guard isServed, due <= course.step.now else {
                why = "it is not due before \(due)"
                break
            }
            why = try serve(serial, from, to, &course, own: token)
        case .line(.ready), .line(.held):
            why = isServed ? try serve(serial, from, to, &course, own: nil) : "nobody asked for jobs of its queue"
        }
        if let why {
            throw Violation(description: "job \(serial) went from \(from.place) to \(to.map { "\($0)" } ?? "its end"), but \(why)")
        }
    }

    /// Checks a job that follows a fetch that has ended. Returns what is wrong.
    private mutating func follow(
        _ serial: Int, _ freed: FreedLook, _ from: JobLook, _ to: Place?, _ isServed: Bool, _ course: inout ClaimCourse
    ) throws(Violation) -> String? {
        let job = jobs[serial]!
        let isLocked = course.isLocked(freed.url, butBy: nil)
        if freed.verdict == .orphaned, isLocked {
            if case .line(.parked)? = to { return nil }
            // The job follows a retry that does not start in the same claim.
            if case .line(.chain)? = to {
                course.letGo.insert(freed.url)
                return nil
            }
        }
        if job.fate == .tombstone {
            if to == nil { jobs[serial]!.fate = .dropped }
            return to == nil ? nil : "its batch is cancelled"
        }
        let outcome = ModelOutcome(
            isNegative: freed.verdict == .failed, isStored: false, began: freed.began, ended: freed.ended, freshUntil: 0)
        let shares =
            freed.verdict != .orphaned && isSatisfied(job, by: outcome, now: course.step.now) && !batch(of: job).options.deliversBodies
        if shares {
            guard to == nil else { return "it has the outcome of the flight that it followed" }
            endByPage(serial, isNegative: outcome.isNegative)
            return nil
        }
        if let page = course.mended.pages[freed.url], freed.verdict == .orphaned, to == nil {
            guard isSatisfied(job, by: ModelOutcome(page), now: course.step.now) else { return "the page does not satisfy it" }
            endByPage(serial, isNegative: page.isNegative)
            return nil
        }
        if freed.verdict == .orphaned {
            if isLocked { return "somebody has the URL again" }
            let isFirst = course.orphans.insert(freed.chain).inserted
            if !isFirst, course.mended.pages[freed.url] == nil { return "one before it has come back to fetch the URL" }
        }
        if case .line(.ready)? = to { return nil }
        return isServed ? try serve(serial, from, to, &course, own: nil) : "nobody asked for jobs of its queue"
    }

    mutating func endByPage(_ serial: Int, isNegative: Bool) {
        end(serial, isNegative ? .failed : .done)
        if !isNegative { totals[jobs[serial]!.record.queue].cached += 1 }
    }

    private func isGivenUp(_ url: Int, _ course: ClaimCourse) -> Bool { course.mended.hosts[host(of: url)]?.probing == 2 }

    /// Checks a job whose turn it is. Returns what is wrong.
    private mutating func serve(
        _ serial: Int, _ from: JobLook, _ to: Place?, _ course: inout ClaimCourse, own: Token?
    ) throws(Violation) -> String? {
        let job = jobs[serial]!
        let url = job.record.url
        let now = course.step.now
        let page = course.mended.pages[url]
        let isSatisfied = page.map { self.isSatisfied(job, by: ModelOutcome($0), now: now) } ?? false
        let delivers = batch(of: job).options.deliversBodies
        let isHopeless = !isSatisfied && isGivenUp(url, course)
        if let own, course.mended.flights[own]?.kind == .pausing { course.goneTokens.insert(own) }
        let holds = own != nil && course.mended.locks[url] == own
        switch to {
        case .none:
            if holds { course.released[url] = own }
            if job.fate == .tombstone {
                jobs[serial]!.fate = .dropped
                return nil
            }
            if isHopeless {
                if delivers { return "its worker has to be told" }
                end(serial, .failed)
                return nil
            }
            guard isSatisfied else { return "no page satisfies it" }
            if delivers { return "its body has to be delivered" }
            endByPage(serial, isNegative: page!.isNegative)
            return nil
        case .leased(let token)?:
            if job.fate == .tombstone { return "its batch is cancelled" }
            guard let flight = course.step.after.flights[token] else { return "there is no such flight" }
            let isTold = isHopeless && flight.kind == .delivery
            let wanted = FlightLook(
                kind: isSatisfied || isTold ? .delivery : .job, began: now, ends: course.step.lived + course.call.lease, url: url,
                job: job.record)
            try Violation.equal(flight, wanted, "the flight of job \(serial)")
            if isSatisfied || isTold {
                if holds { course.released[url] = own }
                return delivers ? nil : "it should have ended"
            }
            if course.isLocked(url, butBy: own) { course.letGo.insert(url) }
            course.starts[host(of: url), default: 0] += 1
            return nil
        case .line(.parked)?:
            if job.fate == .tombstone { return "its batch is cancelled" }
            if isSatisfied { return "a page satisfies it" }
            let lock = course.step.after.locks[url]
            return lock != nil && course.step.after.isLive(lock!, lived: course.step.lived) ? nil : "nobody has its URL"
        case .line(.held)?:
            if holds { course.released[url] = own }
            if job.fate == .tombstone { return "its batch is cancelled" }
            if isSatisfied { return "a page satisfies it" }
            if isGivenUp(url, course) { return "its host is given up" }
            let host = course.step.after.hosts[host(of: url)] ?? HostLook()
            return host.room(rule(of: self.host(of: url)), now: now) == 0 ? nil : "its host has room"
        case .line(.chain)?:
            // The job was parked before a retry let go of the URL.
            course.letGo.insert(url)
            return isSatisfied || job.fate == .tombstone ? "it has nothing to wait for" : nil
        case .line(.ready)?, .later?: return "that is no place for a job that is served"
        }
    }
}
