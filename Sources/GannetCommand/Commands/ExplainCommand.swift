import Crawl
import GannetBase
import GannetHTTP
import GannetQueue

/// `gannet explain URL`: why a URL would be fetched now, or why not.
struct ExplainCommand {
    static let spec = CommandSpec(
        "explain",
        summary: "Tell what is known of a URL: its outcome, the worker that has it, and the state of its host.",
        positional: URLArgument.positional,
        flags: [HeaderOption.header.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            "gannet explain https://example.com/a.jpg": "Tells why the URL would be fetched now, or why not.",
            "gannet explain 3fa94c0d1e2f": "Tells the same of the URL whose id begins with these digits.",
        ]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let argument = try URLArgument(arguments)
        let report = try await target.withCluster(looking: true) { cluster in
            let (url, _) = try await argument.find(in: cluster, queue: target.queue, target.console)
            let found = try await cluster.explain(url.id, host: url.host)
            let job = try await Self.job(of: url.id, found, in: cluster.queue(target.queue))
            return ExplainCommand(url: url, found: found, job: job, queue: target.queue)
        }
        return try target.show(report.json, or: report.text, indent: indent)
    }

    /// A job that is under way, waits for a worker or was given up.
    private typealias Job = (batch: Batch, isReady: Bool, error: (class: String, message: String)?)

    private let url: RequestedURL
    private let found: Explanation
    private let job: Job?
    /// Where the job was looked for.
    private let queue: String

    /// As many parts of the queue are looked at for a job that was given up, or that waits.
    private static let (mostParts, mostPartsWaiting) = (200, 20)

    /// `nil` where the queue has no such job, or has forgotten its batch.
    private static func job(of id: URLID, _ found: Explanation, in queue: FetchQueue) async throws -> Job? {
        var number = found.holder.flatMap { $0.queue == queue.name ? $0.batch : nil }
        var (isReady, error): (Bool, (class: String, message: String)?) = (false, nil)
        if number == nil {
            var filter = JobFilter()
            filter.url = id
            let given = try await queue.jobs(JobSelection(.dead, filter), limit: 1, parts: mostParts).jobs.first
            number = given?.batch
            error = given.flatMap { job in job.errorClass.map { (class: $0, message: job.errorMessage ?? "") } }
            if given == nil, found.holder == nil {
                number = try await queue.jobs(JobSelection(.ready, filter), limit: 1, parts: mostPartsWaiting).jobs.first?.batch
                isReady = number != nil
            }
        }
        guard let number, let batch = try await queue.batches([number]).first else { return nil }
        return (batch, isReady, error)
    }

    private static func text(of job: Job) -> String {
        "\(job.isReady ? "ready, " : "")of the batch '\(job.batch.name)', which \(job.batch.options.manners.words)"
            + (job.isReady ? "; a worker of the queue takes it ('gannet work' starts one)" : "")
            + (job.error.map { "; given up: \($0.message.hasSuffix(".") ? String($0.message.dropLast()) : $0.message)" } ?? "")
    }

    private var json: JSONValue {
        let ofJob = job.map { job -> JSONValue in
            [
                "batch": .string(job.batch.name), "robots": .string(job.batch.options.manners.robots.rawValue),
                "optOuts": .string(job.batch.options.manners.optOuts.rawValue),
                "error": job.error.map { ["class": .string($0.class), "message": .string($0.message)] } ?? .null,
            ]
        }
        return .object(URLLook.fields.members(of: URLLook(url, found)) + [("job", ofJob ?? .null)])
    }

    private var known: URLOutcome? { found.outcome }

    /// Where the values of ``text`` begin.
    private static let indent = 9

    private var text: String {
        var rows = [("url", url.canonical), ("id", url.id.short)]
        if url.hasOtherHeaders { rows.append(("headers", "some, whose names only its batch knows")) }
        if !url.headers.names.isEmpty { rows.append(("headers", url.headers.names.joined(separator: ", "))) }
        rows.append(("outcome", outcome))
        if let known {
            let content = known.content
            if let digest = content.digest { rows.append(("body", "\(Amounts.bytes(content.size)), sha256 \(digest.hexadecimal)")) }
            if let type = content.fields[.contentType] { rows.append(("type", type)) }
            if let file = content.fields[.file] { rows.append(("file", file)) }
            if let optOut = content.fields[.optOut] {
                rows.append(("opt-out", "\(optOut): batches that heed opt-outs do not get the body"))
            }
            if let phases = content.phases { rows.append(("times", times(phases))) }
            rows.append(known.isNegative ? ("retry", retry(known)) : ("fresh", freshness(known)))
        }
        rows.append(("held by", holder))
        if let text = jobText { rows.append(("job", text)) }
        if found.followers + found.waiters > 0 {
            rows.append(
                ("waiting", "\(Amounts.count(found.followers, "job")), \(Amounts.count(found.waiters, "calling program"))"))
        }
        rows.append(("host", "\(url.host): \(host)"))
        if let silence { rows.append(("silent", silence)) }
        if let end = found.givenUpWithin { rows.append(("given up", "in \(Amounts.time(end)) at the latest, unless it answers")) }
        if let rule = found.standing.rule { rows.append(("rule", "for \(rule.subject): \(rule.words)")) }
        return rows.map { $0.0 + String(repeating: " ", count: Self.indent - $0.0.count) + $0.1 }.joined(separator: "\n")
    }

    /// The state of the job, and the command that goes on with it; nil where the rows about the outcome and the holder say all.
    private var jobText: String? {
        let queues = found.holder?.queues ?? []
        if let run = queues.first(where: { $0.hasPrefix(RunIdentity.prefix) }) {
            return "of a run (queue '\(run)'). If that was interrupted or killed, the same 'gannet run' command goes on with it"
        }
        if let job { return Self.text(of: job) }
        guard known == nil, found.holder == nil else { return nil }
        return
            "none in the queue '\(queue)'. The same 'gannet run' command fetches the URLs that an interrupted run has left; 'gannet enqueue' makes a job"
    }

    private func times(_ phases: PhaseTimes) -> String {
        let parts = PhaseTimes.all.map { ($0.name, phases[keyPath: $0.path]) }.filter { $0.1 > 0 }
        return parts.isEmpty
            ? "none worth telling" : parts.map { "\($0) \(Amounts.milliseconds(.milliseconds($1)))" }.joined(separator: ", ")
    }

    private var outcome: String {
        guard let known else { return "none is kept: a job for it is fetched" }
        let age = "\(Amounts.time(known.age(at: found.now))) ago"
        if let failure = known.failure { return "failed \(age): \(failure.sentence)" }
        return "fetched \(age)" + (known.content.httpStatus.map { ", HTTP \($0)" } ?? "")
    }

    private func retry(_ known: URLOutcome) -> String {
        guard found.isFresh else { return "with the next job for this URL" }
        return "in \(Amounts.time(known.freshFor(at: found.now))); until then jobs for this URL are skipped"
    }

    private func freshness(_ known: URLOutcome) -> String {
        if !known.isStored { return "no: it is only for callers that asked before it came" }
        return found.isFresh
            ? "for another \(Amounts.time(known.freshFor(at: found.now)))" : "no: the next job for this URL asks the origin"
    }

    private var holder: String {
        guard let holder = found.holder else { return "nobody" }
        let since = "for \(Amounts.time(found.held(by: holder)))"
        let lease = found.heldFor > .zero ? "its lease has \(Amounts.time(found.heldFor)) left" : "its lease has ended"
        switch holder.kind {
        case .worker: return "a worker, \(since), for a job of the queue '\(holder.queue)'; \(lease)"
        case .program: return "a program without a queue, \(since); \(lease)"
        case .retry where holder.isSuspect:
            let who = holder.crashes > 1 ? "it waits for a worker that has nothing else" : "workers try such URLs a few at a time"
            return "nobody: \(Amounts.count(holder.crashes, "worker")) died with the URL, and \(who)"
        case .retry:
            let time = found.retriesIn.map { $0 > .zero ? ", in \(Amounts.time($0))" : ", which is due" } ?? ""
            let failure = holder.lastFailure.map { ". The last one: \($0.failureSentence)" } ?? ""
            return "nobody: the URL waits for its next attempt\(time)\(failure)"
        }
    }

    private var host: String {
        var parts = ["\(Amounts.count(found.standing.running, "request")) in flight"]
        if let pause = found.coolsFor { parts.append("cools down for another \(Amounts.time(pause))") }
        if let pause = found.startsIn { parts.append("the next may start in \(Amounts.time(pause))") }
        if found.standing.pace != .none { parts.append("a request every \(Amounts.time(found.standing.pace.interval)) at most") }
        if found.standing.isGivenUp { parts.append("given up: jobs that would have to wait for it fail") }
        if found.standing.isProbing { parts.append("one request at a time until one succeeds") }
        return parts.joined(separator: ", ")
    }

    /// Why and since when the host does not answer, or asks for rests.
    private var silence: String? {
        let standing = found.standing
        guard standing.failures > 0 || standing.lastFailure != nil else { return nil }
        let time = standing.downSince > 0 ? Amounts.time(.milliseconds(max(0, found.now - standing.downSince))) : nil
        let reason = standing.lastFailure.map { ": \($0.failureSentence)" } ?? ""
        guard standing.failures > 0 else { return "it has asked for rests\(time.map { " for \($0)" } ?? "")\(reason)" }
        let since = time.map { ", the first \($0) ago" } ?? ""
        return "\(Amounts.count(standing.failures, "request")) in a row without an answer\(since)\(reason)"
    }
}
