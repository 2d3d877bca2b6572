import Crawl
import GannetBase
import GannetHTTP
import GannetQueue

/// `gannet jobs list`: jobs that have not ended, or have failed.
struct JobsListCommand: Command {
    private static let limit = Flag("limit", .integer(in: 1...100_000), default: "50", "How many to show at most.")
    private static let cursor = Flag("cursor", .text("cursor"), "Show the page after the one that ended with this cursor.")
    private static let all = Toggle("all", "Show all of them, page by page.")

    static let spec = CommandSpec(
        "list",
        summary: "List jobs that are active, ready, delayed, parked or dead.",
        discussion:
            "Without '--state' some jobs of each state are shown. With '--json' each line is a page with a cursor for the next one. "
            + "GIVEN UP says when a waiting job fails at the latest, by the options of the queue's workers.",
        flags: [JobFlags.state.entry] + JobFlags.selecting
            + [limit.entry, cursor.entry, all.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet jobs list --state dead", "Lists the jobs that have failed, with their reasons."),
            Example("gannet jobs list --class timeout --host example.com", "Lists the jobs of a host that have timed out."),
        ])

    /// One selection for each state.
    private let selections: [JobSelection]
    private let batch: String?
    private let limit: Int
    private let cursor: String?
    private let all: Bool
    private let json: Bool
    private let target: QueueTarget

    private var console: Console { target.console }

    init(_ arguments: Arguments) throws {
        let hasState = try arguments.optional(JobFlags.state) != nil
        let hasClass = arguments.origin(of: JobFlags.errorClass.entry) != nil
        // Only dead jobs have a class.
        let asked = try JobFlags.selection(from: arguments, JobFlags.state, usual: hasClass ? .dead : .active)
        cursor = try arguments.optional(Self.cursor)
        if cursor != nil, !hasState { throw arguments.usageError("'--cursor' needs the '--state' of its page.") }
        let states: [JobState] = hasState || hasClass ? [asked.state] : [.active, .ready, .delayed, .parked, .dead]
        selections = states.map { JobSelection($0, asked.filter) }
        batch = try arguments.optional(JobFlags.batch)
        limit = try arguments.require(Self.limit)
        all = arguments.isSet(Self.all)
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
    }

    func run() async throws -> ExitStatus {
        try await target.withQueue(looking: true) { queue in
            var isEmpty = true
            for selection in try await JobFlags.selections(selections, of: batch, in: queue) {
                guard var next = cursor.map(JobCursor.init) ?? JobCursor() else {
                    throw CommandFailure(.wrongUsage, "This is no cursor of an earlier listing.")
                }
                while true {
                    let page = try await queue.jobs(selection, from: next, limit: limit)
                    try print(page, selection.state)
                    if !page.jobs.isEmpty || page.next != nil && !all { isEmpty = false }
                    guard all, let following = page.next else { break }
                    next = following
                }
            }
            if !json, isEmpty {
                let unknown = UnknownQueue(target.queue, try await queue.overview())
                console.note(unknown?.hint ?? "there are no such jobs in the queue '\(target.queue)'.")
            }
            return .done
        }
    }

    /// A page is a table, or a line of JSON.
    private func print(_ page: JobListing, _ state: JobState) throws {
        let jobs = page.jobs.map { JobReport(job: $0, now: page.now) }
        if json {
            let json: JSONValue = [
                "schema": 1, "queue": .string(target.queue), "state": .string(state.rawValue),
                "jobs": JobLook.fields.list(of: page.looks),
                "cursor": JSONValue(page.next?.text),
            ]
            return try console.print(json.text)
        }
        if !jobs.isEmpty {
            // Its columns are as wide as this page needs: the next one is not known yet.
            let ends = page.jobs.map { page.givenUpWithin($0).map { "in \(Amounts.roughTime($0))" } }
            let hasEnds = ends.contains { $0 != nil }
            var table = TextTable(
                (["STATE", "WHEN", "ATTEMPTS"] + (hasEnds ? ["GIVEN UP"] : []) + ["ID", "URL", "REASON"]).map { ($0, .left) })
            for (job, end) in zip(jobs, ends) {
                let cells = [state.rawValue, job.when, job.attempts] + (hasEnds ? [end ?? "-"] : [])
                let reason = (job.job.errorMessage ?? job.job.errorClass ?? "").withoutSteering
                table.add((cells + [job.job.entry.id.short, job.job.shownURL.withoutSteering, reason]).map { StyledText($0) })
            }
            try console.print(table)
        }
        guard let cursor = page.next?.text, !all else { return }
        console.note("there are more \(state.rawValue) jobs: '--state \(state.rawValue) --cursor \(cursor)' shows the next, '--all' all.")
    }
}

/// `gannet jobs retry`: dead jobs are tried again, and delayed ones now.
struct JobsRetryCommand: Command {
    static let spec = CommandSpec(
        "retry",
        summary: "Try dead jobs again, or delayed ones now.",
        discussion: "Each job has all its attempts again, and counts as failed no longer. "
            + "Nothing is lost by it, so it does not ask; '--yes' is accepted.",
        flags: [JobFlags.retriedState.entry] + JobFlags.selecting + JobsChange.flags + QueueTarget.flags,
        examples: [
            Example("gannet jobs retry --class timeout", "Tries all jobs again that have timed out.")
        ])

    private let change: JobsChange

    init(_ arguments: Arguments) throws {
        change = try JobsChange(arguments, [JobFlags.selection(from: arguments, JobFlags.retriedState)])
    }

    func run() async throws -> ExitStatus {
        let verb = change.selections[0].state == .delayed ? "To be tried now" : "To be tried again"
        return try await change.run("retried", verb) { try await $0.retry($1, limit: $2) }
    }
}

/// `gannet jobs delete`: takes jobs out of a queue.
struct JobsDeleteCommand: Command {
    static let spec = CommandSpec(
        "delete",
        summary: "Delete jobs. They count as cancelled; dead ones still count as failed.",
        discussion:
            "Active jobs are with a worker and end there; 'batch cancel' keeps them from being tried again. With '--url' and without "
            + "'--state' it is the URL's jobs of all states.",
        flags: [JobFlags.deletedState.entry] + JobFlags.selecting + JobsChange.flags + QueueTarget.flags,
        examples: [
            Example("gannet jobs delete --state ready --host example.com --dry-run", "Prints how many jobs of a host wait.")
        ])

    private let change: JobsChange

    init(_ arguments: Arguments) throws {
        let asked = try JobFlags.selection(from: arguments, JobFlags.deletedState)
        let hasState = try arguments.optional(JobFlags.deletedState) != nil
        guard hasState || asked.filter.url != nil else {
            throw arguments.usageError("Say which jobs to delete: by their '--state', or those of one '--url'.")
        }
        let states = hasState ? [asked.state] : asked.filter.errorClasses.isEmpty ? JobFlags.deletedStates : [.dead]
        var change = try JobsChange(arguments, states.map { JobSelection($0, asked.filter) })
        if !change.isDryRun { change.confirmation = try Confirmation(arguments, of: "'jobs delete' loses jobs") }
        self.change = change
    }

    func run() async throws -> ExitStatus {
        try await change.run("deleted", "Deleted") { try await $0.delete($1, limit: $2) }
    }
}

/// The arguments of `jobs retry` and `jobs delete`, and their common steps.
private struct JobsChange: Sendable {
    private static let limit = Flag("limit", .integer(in: 1...1_000_000_000), "How many jobs at most.")

    static let flags = [limit.entry, JobFlags.dryRun.entry, Confirmation.yes.entry, CommonFlags.json.entry]

    /// One for each state.
    let selections: [JobSelection]
    private let limit: Int
    let isDryRun: Bool
    private let batch: String?
    private let json: Bool
    /// Without credentials.
    private let url: String?
    private let target: QueueTarget
    /// For a change that cannot be undone.
    var confirmation: Confirmation?

    init(_ arguments: Arguments, _ selections: [JobSelection]) throws {
        self.selections = selections
        batch = try arguments.optional(JobFlags.batch)
        limit = try arguments.optional(Self.limit) ?? .max
        isDryRun = arguments.isSet(JobFlags.dryRun)
        url = try JobFlags.shownURL(arguments)
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
    }

    /// Counts, asks, changes, tells. `name` is the change in JSON, `verb` begins a sentence.
    func run(
        _ name: String, _ verb: String, _ change: (FetchQueue, JobSelection, Int) async throws -> JobSweep
    ) async throws -> ExitStatus {
        try await target.withQueue { queue in
            let selections = try await JobFlags.selections(selections, of: batch, in: queue)
            func count() async throws -> Int {
                var count = 0
                for selection in selections where count < limit {
                    count += try await queue.count(selection, limit: limit - count).count
                }
                return count
            }
            if isDryRun {
                let count = try await count()
                try show(count, "Would have been \(name): \(phrase(count)).")
                return .done
            }
            if let confirmation, confirmation.mustAsk {
                let count = try await count()
                guard count > 0 else {
                    try show(0, "\(verb): \(phrase(0)).")
                    return .done
                }
                guard confirmation.ask("Delete \(phrase(count))?", target.console) else { return .done }
            }
            var changed = (count: 0, stuck: 0)
            for selection in selections where changed.count < limit {
                let some = try await change(queue, selection, limit - changed.count)
                changed.count += some.count
                changed.stuck += some.stuck
            }
            if changed.stuck > 0 {
                target.console.note(
                    "\(Amounts.count(changed.stuck, "job")) stayed dead, because the batch was cancelled or is no longer remembered. Enqueue the URLs again."
                )
            }
            try show(changed.count, stuck: changed.stuck, "\(verb): \(phrase(changed.count)).")
            if changed.count == 0, let unknown = UnknownQueue(target.queue, try await queue.overview()) {
                target.console.note(unknown.hint)
            }
            return .done
        }
    }

    /// The jobs of one state; `nil` for those of several.
    private var state: JobState? { selections.count == 1 ? selections[0].state : nil }
    private var filter: JobFilter { selections[0].filter }

    private func show(_ count: Int, stuck: Int = 0, _ sentence: String) throws {
        let object: JSONValue = [
            "schema": 1, "queue": .string(target.queue), "state": JSONValue(state?.rawValue),
            "host": JSONValue(filter.host),
            "class": JSONValue(filter.errorClasses.isEmpty ? nil : filter.errorClasses.joined(separator: ",")), "url": JSONValue(url),
            "text": JSONValue(filter.text), "batch": JSONValue(batch), "dryRun": .bool(isDryRun),
            "count": .integer(count), "stuck": .integer(stuck),
        ]
        if json { try target.console.print(object.text) } else { try target.console.print(prose: sentence) }
    }

    /// `12 dead jobs of the host h in the queue 'default'`.
    private func phrase(_ count: Int) -> String {
        var words = Amounts.count(count, state.map { "\($0.rawValue) job" } ?? "job")
        if let url {
            words += " of the URL \(Sentence.quoted(url))"
        } else if let host = filter.host {
            words += " of the host \(Sentence.quoted(host))"
        }
        if let text = filter.text { words += " with \(Sentence.quoted(text)) in \(count == 1 ? "its URL" : "their URLs")" }
        let classes = filter.errorClasses.map { Sentence.quoted($0) }
        if !classes.isEmpty { words += " of the \(classes.count == 1 ? "class" : "classes") \(Sentence.alternatives(classes))" }
        if let batch { words += " of the batch \(Sentence.quoted(batch))" }
        return words + " in the queue '\(target.queue)'"
    }
}

/// Flags that select the jobs of `jobs list`, `retry` and `delete`.
private enum JobFlags {
    static let state = Flag(
        "state", choice(JobState.allCases), "Only jobs in this state: ready, active, parked, delayed or dead. 'failed' means dead.")
    static let retriedState = Flag("state", choice([.dead, .delayed]), default: "dead", "The state of the jobs: dead or delayed.")
    static let deletedState = Flag(
        "state", choice(deletedStates), "The state of the jobs: ready, parked, delayed or dead. Only '--url' does without it.")
    static let deletedStates: [JobState] = [.ready, .parked, .delayed, .dead]

    private static let host = Flag("host", .text("host"), "Only jobs of this host, with its port unless that is 80 or 443.")
    static let errorClass = Flag(
        "class", .failureClass(), isRepeatable: true,
        "Only dead jobs of this class of failures, or of a status such as 404, or of many, such as 5xx. Given again, also those of that class. "
            + classes
    )
    /// `GANNET_BATCH` is there for `enqueue` and `export`. Here it would leave jobs out without a word.
    static let batch = Flag("batch", .batchName, hasVariable: false, "Only jobs of this batch. The variable GANNET_BATCH is not read here.")
    private static let url = Flag("url", .text("url"), "Only jobs of this URL.")
    private static let text = Flag(
        "text", .text("text"), "Only jobs with this text in their URLs. Capital letters count as small ones.")
    static let dryRun = Toggle("dry-run", "Print how many jobs it would be, and change nothing.")

    /// In two sentences, since there are many.
    private static var classes: String {
        let names = FailureClass.names
        let half = names.count / 2
        return "Classes are \(names[..<half].joined(separator: ", ")). Further classes are \(names[half...].joined(separator: ", "))."
    }

    /// Flags that go with a state.
    static let selecting = [host.entry, errorClass.entry, batch.entry, url.entry, text.entry]

    /// The same selections within a batch, whose number the queue knows; as they are without one.
    static func selections(_ selections: [JobSelection], of batch: String?, in queue: FetchQueue) async throws -> [JobSelection] {
        guard let batch else { return selections }
        guard let number = try await queue.number(ofBatch: batch) else { throw BatchArgument.unknown(batch, queue.name) }
        return selections.map {
            var selection = $0
            selection.filter.batch = number
            return selection
        }
    }

    /// The URL of `--url`, without credentials.
    static func shownURL(_ arguments: Arguments) throws -> String? {
        try arguments.optional(url).map { RedactedURL.withoutSecrets(try RequestedURL($0).canonical) }
    }

    /// The dead jobs are the failed ones that are kept, so `failed` is understood too.
    private static func choice(_ states: [JobState]) -> ValueType<String> {
        let type = ValueType.choice("state", of: states.map(\.rawValue))
        return ValueType(type.placeholder, completion: type.completion) { text in try type.parse(text == "failed" ? "dead" : text) }
    }

    /// The jobs asked for, in the state that `flag` names, or in `usual`.
    static func selection(from arguments: Arguments, _ flag: Flag<String>, usual: JobState = .dead) throws -> JobSelection {
        let state = try arguments.optional(flag).flatMap(JobState.init)
        let named = try arguments.optional(host)
        let host = named.flatMap { RequestedURL.host(named: $0) }
        if let named, host == nil {
            throw arguments.usageError(
                RequestedURL.host(ofURL: named).map { "A host is named without the rest of its URL: '--host \($0)'." }
                    ?? "The value of '--host' is no host: name one such as 'example.com'.")
        }
        var filter = JobFilter(host: host)
        filter.errorClasses = try arguments.all(errorClass)
        filter.text = try arguments.optional(text)
        if let url = try arguments.optional(url).map({ try RequestedURL($0) }) {
            if let host = filter.host, host != url.host {
                throw arguments.usageError("The URL of '--url' has the host '\(url.host)': leave '--host' out.")
            }
            (filter.url, filter.host) = (url.id, url.host)
        }
        let selection = JobSelection(state ?? usual, filter)
        if !filter.errorClasses.isEmpty, selection.state != .dead {
            throw arguments.usageError("Only dead jobs have a class: '--class' goes with '--state dead'.")
        }
        return selection
    }
}

/// A job, as people read it.
private struct JobReport: Sendable {
    let job: ListedJob
    /// Queue time, ms.
    let now: Int

    private var since: Duration? { job.since(at: now) }

    /// The time in the table, by state.
    var when: String {
        switch (job.state, since) {
        case (.delayed, let since?): since < .zero ? "due in \(Amounts.time(.zero - since))" : "due"
        case (.active, let since?): "for \(Amounts.time(since))"
        case (.dead, let since?): "\(Amounts.time(since)) ago"
        default: "enqueued \(Amounts.time(job.age(at: now))) ago"
        }
    }

    var attempts: String {
        guard job.failures + job.crashes > 0 else { return "-" }
        return "\(job.failures) failed" + (job.crashes > 0 ? ", \(job.crashes) crashed" : "")
    }
}
