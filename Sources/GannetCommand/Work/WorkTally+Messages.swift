import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import Results

/// The messages of a worker's reports, for people and for logs.
extension WorkTally {
    @Sendable func note(_ report: WorkerReport) {
        if let news = state.withLock({ $0.note(report, at: .now) }) { console.warn(news) }
        switch report {
        // A job.
        case .fetched(let job, let bytes, let file):
            tell(
                job, "fetched", "fetched \(job.url) (\(Amounts.bytes(bytes)))\(file.map { " as \($0)" } ?? "")",
                [(key: "bytes", value: .integer(bytes)), (key: "file", value: JSONValue(file))])
        case .revalidated(let job, let file): tell(job, "revalidated", "unchanged \(job.url)\(file.map { " as \($0)" } ?? "")")
        case .cached(let job, let file): tell(job, "cached", "there already \(job.url)\(file.map { " as \($0)" } ?? "")")
        case .bodyMissing(let job):
            tell(job, "refetched", "\(job.url) was fetched before, but its body is gone; it is fetched again")
        case .putOff(let job, let error, let pause):
            tell(job, putOff: error.description, error.className, pause)
        case .hostFull(let job, let host, let pause):
            let sentence = "A redirect led to \(host.escapedForDisplay), which takes no more requests for now"
            tell(job, putOff: "\(sentence) (\(job.url)).", WorkerReport.hostFullClass, pause)
        case .failed(let job, let sentence, let errorClass):
            complain(of: job, errorClass == FailureCounts.disallowed ? sentence : "failed: \(sentence)", errorClass)
        case .skipped(let job, let failure, let errorClass):
            let remembered = "this is remembered for another \(Amounts.time(failure.remaining))"
            complain(
                of: job,
                "skipped: \(job.url) failed \(Amounts.time(failure.age)) ago (\(errorClass)); \(remembered) ('gannet explain \(job.url)')",
                errorClass)
        case .lost(let job): tell(job, "lost", "lost the lease on \(job.url): another worker has it")
        case .handedBack(let job): tell(job, "handedBack", "handed back \(job.url)")
        case .left(let job): tell(job, "left", "left \(job.url): it can be claimed again when its lease ends")
        case .malformed(let job):
            console.warn(
                "Redis could not keep the outcome of \(job.url): run 'gannet doctor' to check the queue", job.facts("malformed"))

        // The worker's end.
        case .drainAsked: tell("drainAsked", "asked by 'gannet workers drain' to finish its jobs and end.")
        case .stopping(let active, let limit): tellStop(active, limit)
        case .handingBack(let active, let limit):
            tell(
                "handingBack",
                "handing back \(Amounts.count(active, "URL")), within \(Amounts.time(limit)). Stop again to leave them: each is charged a crash then.",
                [(key: "active", value: .integer(active))])
        case .leftBehind(let left): console.warn(left.sentence, left.facts)

        // The queue.
        case .givenUp(let count):
            if let total = state.withLock({ $0.giveUp(count, at: .now) }) { tellGivenUp(total) }
        case .progress(let accepted, let ended, let waits):
            // A call that began to wait may have been cancelled since. A part of a cluster may still move or be away.
            if watch.isAway { watch.note(.ended) }
            let lost = state.withLock { $0.note(accepted: accepted, ended: ended, waits, at: .now) }
            if let lost { tellLoss(of: lost, now: accepted) }
        case .missing:
            console.warn(
                "the jobs that are left are missing from the queue: Redis has lost them, or they were damaged; 'gannet doctor' tells more")

        // The store and Redis.
        case .room(let room): warn(of: room)
        case .standstill(let jobs?):
            warn(
                "standstill",
                "the worker takes no more jobs for now: Redis or the folder does not take the bodies of its \(Amounts.count(jobs, "job")). "
                    + "A server may be away or full, which 'gannet status' tells.",
                [(key: "jobs", value: .integer(jobs))])
        case .standstill(nil): warn("standstillEnded", "bodies are stored again; going on.")
        case .places(let count, let bound): tell(count, bound)
        case .redis(let outage): watch.note(outage)
        }
    }

    /// Prints how many failures were not told one by one.
    func finish() {
        let (givenUp, untold, refusals) = state.withLock { ($0.untoldGivenUp(), $0.complaints.rest(), $0.refusals) }
        if refusals > 1, console.verbosity < .verbose {
            console.complain(
                "… and \(Amounts.count(refusals - 1, "more URL")) with addresses that are not public",
                Self.facts("failuresNotTold", [(key: "count", value: .integer(refusals - 1))]))
        }
        if let givenUp { tellGivenUp(givenUp) }
        if untold > 0 { tellUntold(untold) }
    }

    /// - Parameter network: A network that was refused.
    static func advice(for network: String) -> String {
        "addresses that are not public are refused unless they are allowed: '--allow-net \(network)' allows this one."
    }
}

extension WorkTally {
    private static let refusedClass = "refused"

    private static func facts(_ event: String, _ more: LogFacts = []) -> LogFacts { [(key: "event", value: .string(event))] + more }

    private func tell(
        _ job: JobLabel, _ event: String, _ line: @autoclosure () -> String, _ facts: @autoclosure () -> LogFacts = []
    ) {
        console.detail(line(), job.facts(event, facts()))
    }

    private func tell(_ job: JobLabel, putOff sentence: @autoclosure () -> String, _ errorClass: String, _ pause: Duration?) {
        tell(
            job, "retried", "will be tried again \(pause.map { "in \(Amounts.time($0))" } ?? "after a pause"): \(sentence())",
            [(key: "class", value: .string(errorClass)), (key: "pauseSeconds", value: JSONValue(pause))])
    }

    private func tell(_ event: String, _ line: String, _ facts: LogFacts = []) { console.note(line, Self.facts(event, facts)) }

    private func warn(_ event: String, _ line: String, _ facts: LogFacts = []) { console.warn(line, Self.facts(event, facts)) }

    private func complain(of job: JobLabel, _ sentence: String, _ errorClass: String) {
        let network = errorClass == Self.refusedClass ? AddressGuard.network(refusedIn: sentence) : nil
        let refusals = state.withLock { state in
            if network != nil { state.refusals += 1 }
            return network == nil ? 0 : state.refusals
        }
        if console.verbosity < .verbose {
            if refusals > 1 { return }
            guard let untold = refusals == 1 ? 0 : state.withLock({ $0.complaints.note(at: .now) }) else { return }
            if untold > 0 { tellUntold(untold) }
        }
        console.complain(sentence, job.facts("failed", [(key: "class", value: .string(errorClass))]))
        if refusals == 1, let network { console.note(Self.advice(for: network)) }
    }

    private func tellUntold(_ count: Int) {
        console.complain(
            "… and \(Amounts.count(count, "further failure")); '--verbose' shows each",
            Self.facts("failuresNotTold", [(key: "count", value: .integer(count))]))
    }

    private func tellGivenUp(_ total: Int) {
        console.complain(
            "skipped: \(Amounts.count(total, "URL")) so far, without a request. Each failed a short while ago, or its host does not answer, or three workers died with it; 'gannet jobs list --state dead' shows them.",
            Self.facts("givenUp", [(key: "count", value: .integer(total))]))
    }

    private func tellLoss(of before: Int, now: Int) {
        warn(
            "dataLost",
            "JOBS ARE GONE: this queue had accepted \(Amounts.count(before, "URL")), and Redis knows of \(now) now. Unless somebody purged it, Redis has "
                + "lost its data: it was emptied, was started without its files, or fell back to an older state. Enqueue again the URLs that had not ended.",
            [(key: "acceptedBefore", value: .integer(before)), (key: "acceptedNow", value: .integer(now))])
    }

    private func tellStop(_ active: Int, _ limit: Duration) {
        let (urls, time) = (Amounts.count(active, "URL"), Amounts.time(limit))
        let fate =
            watch.isAway
            ? "\(urls) in flight cannot end while Redis does not answer. After \(time) they are left, and fetched again later."
            : state.withLock { $0.lacksRoom }
                ? "\(urls) wait for room for their bodies. Without it within \(time) they are handed back, and fetched again later."
                : "\(urls) in flight may end within \(time)."
                    + (watch.isPartAway ? " URLs whose part of Redis is still away then are left, and fetched again later." : "")
        tell("stopping", "stopping; \(fate) Stop again to leave at once.", [(key: "active", value: .integer(active))])
    }

    /// A reason that people may do something about is told once a minute at most.
    private func tell(_ places: Int, _ bound: PlacesBound) {
        let facts = Self.facts("places", [(key: "count", value: .integer(places)), (key: "bound", value: .string(bound.rawValue))])
        let line = "\(Amounts.count(places, "request")) at once"
        guard let reason = Self.sentence(on: bound), state.withLock({ $0.limit.mayTell(bound.rawValue, at: .now) }) else {
            return console.detail("\(line) (\(bound.rawValue))", facts)
        }
        console.note("\(line) and no more: \(reason)", facts)
    }

    private static func sentence(on bound: PlacesBound) -> String? {
        switch bound {
        case .given, .most, .jobs, .growing, .processor: nil
        case .files:
            "this process may have only \(DescriptorLimit.raised().value) files open. Raise 'ulimit -n' to "
                + "\(DescriptorLimit.needed(for: WorkerOptions.mostPlaces)) for all that a worker can make."
        case .memory: "the machine, or the control group of this process, has too little memory left."
        case .names: "many names get no answer from the name servers, perhaps because there were too many requests for this line."
        case .network: "many hosts cannot be connected to, perhaps because there were too many requests for this line."
        }
    }

    private func warn(of room: StoreRoom) {
        switch room {
        case .full(let server):
            warn(
                "storeFull",
                "Redis at \(server) has no room for more bodies: they wait. Raise its maxmemory, or lower '--cache-limit' to what it has.",
                [(key: "server", value: .string(server))])
        case .limitReached:
            warn(
                "storeFull",
                "Redis has no room for more bodies: they wait, because all bodies within '--cache-limit' are in use. Raise that limit.")
        case .held(let batches):
            warn(
                "storeHeld",
                "Redis has no room for more bodies within '--cache-limit': \(batches.wayOut) The worker takes no more jobs until then.",
                [(key: "batches", value: .array(batches.map { .string($0.batch) }))])
        case .there: warn("storeHasRoom", "Redis has room for bodies again; going on.")
        }
    }
}

extension LeftBehind {
    /// A sentence about jobs and exchanges, and one about the list of workers.
    fileprivate var sentence: String {
        var sentences: [String] = []
        if jobs > 0 || !partitions.isEmpty {
            let place = partitionCount > 1 ? " for \(partitions.count) of \(partitionCount) partitions" : ""
            sentences.append(
                jobs > 0
                    ? "Redis did not confirm that \(Amounts.count(jobs, "URL")) \(jobs == 1 ? "is" : "are") handed back: what it still counts as this worker's goes to others when the lease ends, charged a crash each."
                    : "ended without an answer of Redis\(place): URLs that were on their way to this worker go to others when the leases end, charged a crash each."
            )
        }
        if isListed {
            let part = partitionCount > 1 ? "the part of Redis with its record" : "Redis"
            let reason = jobs > 0 ? "" : ", because \(part) did not answer"
            sentences.append("'workers list' shows this worker as silent for ten minutes\(reason).")
        }
        return sentences.joined(separator: " ")
    }

    fileprivate var facts: LogFacts {
        [
            (key: "event", value: "leftBehind"), (key: "jobs", value: .integer(jobs)),
            (key: "partitions", value: .array(partitions.map { .integer($0) })), (key: "listed", value: .bool(isListed)),
        ]
    }
}
