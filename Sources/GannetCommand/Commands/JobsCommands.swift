import Crawl
import GannetBase
import GannetHTTP
import GannetQueue

/// Commands about jobs that have not ended, or have failed.
enum JobsCommands {
    static let group = CommandSpec(
        "jobs", summary: "Look at jobs, try dead ones again, or delete them.", subcommands: [list, retry, delete],
        examples: [
            "gannet jobs list --state dead": "Lists the jobs that have failed, with their reasons.",
            "gannet jobs retry --class timeout": "Tries all jobs again that have timed out.",
        ])

    private static let shownState = Flag(
        "state", state(JobState.allCases), "Only jobs in this state: ready, active, parked, delayed or dead. 'failed' means dead.")
    private static let retriedState = Flag("state", state([.dead, .delayed]), default: "dead", "The state of the jobs: dead or delayed.")
    private static let deletedState = Flag(
        "state", state(deletedStates), "The state of the jobs: ready, parked, delayed or dead. Only '--url' does without it.")
    private static let deletedStates: [JobState] = [.ready, .parked, .delayed, .dead]

    /// The dead jobs are the failed ones that are kept, so `failed` is understood too.
    private static func state(_ states: [JobState]) -> ValueType<JobState> {
        let type = ValueType.choice("state", of: states)
        return ValueType(type.placeholder, completion: type.completion) { text in try type.parse(text == "failed" ? "dead" : text) }
    }

    private static let host = Flag("host", .text("host"), "Only jobs of this host, with its port unless that is 80 or 443.")
    private static let errorClass = Flag(
        "class", .failureClass(), isRepeatable: true,
        "Only dead jobs of this class of failures, or of a status such as 404, or of many, such as 5xx. Given again, also those of that class. "
            + classes
    )
    /// `GANNET_BATCH` is there for `enqueue` and `export`. Here it would leave jobs out without a word.
    private static let batch = Flag(
        "batch", .batchName, hasVariable: false, "Only jobs of this batch. The variable GANNET_BATCH is not read here.")
    private static let url = Flag("url", .text("url"), "Only jobs of this URL.")
    private static let text = Flag(
        "text", .text("text"), "Only jobs with this text in their URLs. Capital letters count as small ones.")

    /// In two sentences, since there are many.
    private static var classes: String {
        let names = FailureClass.names
        let half = names.count / 2
        return "Classes are \(names[..<half].joined(separator: ", ")). Further classes are \(names[half...].joined(separator: ", "))."
    }

    /// Flags that go with a state.
    private static let selecting = [host.entry, errorClass.entry, batch.entry, url.entry, text.entry]

    private static let page = Flag("limit", .integer(in: 1...100_000), default: "50", "How many to show at most.")
    private static let cursor = Flag("cursor", .text("cursor"), "Show the page after the one that ended with this cursor.")
    private static let all = Toggle("all", "Show all of them, page by page.")

    private static let most = Flag("limit", .integer(in: 1...1_000_000_000), "How many jobs at most.")
    private static let dryRun = Toggle("dry-run", "Print how many jobs it would be, and change nothing.")
    private static let changing =
        selecting + [most.entry, dryRun.entry, Confirmation.yes.entry, CommonFlags.json.entry] + QueueTarget.flags

    private static let list: CommandSpec = CommandSpec(
        "list",
        summary: "List jobs that are active, ready, delayed, parked or dead.",
        discussion:
            "Without '--state' some jobs of each state are shown. With '--json' each line is a page with a cursor for the next one. "
            + "GIVEN UP says when a waiting job fails at the latest, by the options of the queue's workers.",
        flags: [shownState.entry] + selecting + [page.entry, cursor.entry, all.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            "gannet jobs list --state dead": "Lists the jobs that have failed, with their reasons.",
            "gannet jobs list --class timeout --host example.com": "Lists the jobs of a host that have timed out.",
        ]
    ) { try await list($0) }

    private static let retry = CommandSpec(
        "retry",
        summary: "Try dead jobs again, or delayed ones now.",
        discussion: "Each job has all its attempts again, and counts as failed no longer. "
            + "Nothing is lost by it, so it does not ask; '--yes' is accepted.",
        flags: [retriedState.entry] + changing,
        examples: ["gannet jobs retry --class timeout": "Tries all jobs again that have timed out."]
    ) { arguments in
        let state = try arguments.require(retriedState)
        let selections = [JobSelection(state, try filter(arguments, of: state))]
        let verb = state == .delayed ? "To be tried now" : "To be tried again"
        return try await change(arguments, selections, "retried", verb) { try await $0.retry($1, limit: $2) }
    }

    private static let delete = CommandSpec(
        "delete",
        summary: "Delete jobs. They count as cancelled; dead ones still count as failed.",
        discussion:
            "Active jobs are with a worker and end there; 'batch cancel' keeps them from being tried again. With '--url' and without "
            + "'--state' it is the URL's jobs of all states.",
        flags: [deletedState.entry] + changing,
        examples: ["gannet jobs delete --state ready --host example.com --dry-run": "Prints how many jobs of a host wait."]
    ) { arguments in
        let state = try arguments.optional(deletedState)
        let filter = try filter(arguments, of: state ?? .dead)
        guard state != nil || filter.url != nil else {
            throw arguments.usageError("Say which jobs to delete: by their '--state', or those of one '--url'.")
        }
        let states = state.map { [$0] } ?? (filter.errorClasses.isEmpty ? deletedStates : [.dead])
        let selections = states.map { JobSelection($0, filter) }
        return try await change(arguments, selections, "deleted", "Deleted", loss: "'jobs delete' loses jobs") {
            try await $0.delete($1, limit: $2)
        }
    }

    /// The filter for jobs in a state that the options ask for, without their batch.
    private static func filter(_ arguments: Arguments, of state: JobState) throws -> JobFilter {
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
        if !filter.errorClasses.isEmpty, state != .dead {
            throw arguments.usageError("Only dead jobs have a class: '--class' goes with '--state dead'.")
        }
        return filter
    }

    /// The same selections within a batch, whose number the queue knows; as they are without one.
    private static func selections(_ selections: [JobSelection], of batch: String?, in queue: FetchQueue) async throws -> [JobSelection] {
        guard let batch else { return selections }
        guard let number = try await queue.number(ofBatch: batch) else { throw CommandFailure.unknownBatch(batch, queue.name) }
        return selections.map {
            var selection = $0
            selection.filter.batch = number
            return selection
        }
    }
}

extension JobsCommands {
    private static func list(_ arguments: Arguments) async throws -> ExitStatus {
        let state = try arguments.optional(shownState)
        // Only dead jobs have a class.
        let hasClass = arguments.origin(of: errorClass.entry) != nil
        let filter = try filter(arguments, of: state ?? (hasClass ? .dead : .active))
        let cursor = try arguments.optional(cursor)
        if cursor != nil, state == nil { throw arguments.usageError("'--cursor' needs the '--state' of its page.") }
        let states = state.map { [$0] } ?? (hasClass ? [.dead] : [.active, .ready, .delayed, .parked, .dead])
        let (batch, limit, showsAll) = (try arguments.optional(batch), try arguments.require(page), arguments.isSet(all))
        let target = try QueueTarget(arguments)
        return try await target.withQueue(looking: true) { queue in
            var isEmpty = true
            for selection in try await selections(states.map { JobSelection($0, filter) }, of: batch, in: queue) {
                guard var next = cursor.map(JobCursor.init) ?? JobCursor() else {
                    throw CommandFailure(.wrongUsage, "This is no cursor of an earlier listing.")
                }
                while true {
                    let page = try await queue.jobs(selection, from: next, limit: limit)
                    try print(page, selection.state, showsAll: showsAll, target)
                    if !page.jobs.isEmpty || page.next != nil && !showsAll { isEmpty = false }
                    guard showsAll, let following = page.next else { break }
                    next = following
                }
            }
            if !target.json, isEmpty {
                let unknown = UnknownQueue(target.queue, try await queue.overview())
                target.console.note(unknown?.hint ?? "there are no such jobs in the queue '\(target.queue)'.")
            }
            return .done
        }
    }

    /// A page is a table, or a line of JSON.
    private static func print(
        _ page: (jobs: [ListedJob], next: JobCursor?), _ state: JobState, showsAll: Bool, _ target: QueueTarget
    ) throws {
        if target.json {
            let json: JSONValue = [
                "schema": 1, "queue": .string(target.queue), "state": .string(state.rawValue),
                "jobs": ListedJob.fields.list(of: page.jobs),
                "cursor": JSONValue(page.next?.text),
            ]
            return try target.console.print(json.text)
        }
        if !page.jobs.isEmpty {
            // Its columns are as wide as this page needs: the next one is not known yet.
            let ends = page.jobs.map { $0.givenUpWithin.map { "in \(Amounts.roughTime($0))" } }
            let hasEnds = ends.contains { $0 != nil }
            var table = TextTable(
                (["STATE", "WHEN", "ATTEMPTS"] + (hasEnds ? ["GIVEN UP"] : []) + ["ID", "URL", "REASON"]).map { ($0, .left) })
            for (job, end) in zip(page.jobs, ends) {
                let cells = [state.rawValue, when(job), attempts(job)] + (hasEnds ? [end ?? "-"] : [])
                let reason = (job.errorMessage ?? job.errorClass ?? "").withoutSteering
                table.add((cells + [job.entry.id.short, job.shownURL.withoutSteering, reason]).map { StyledText($0) })
            }
            try target.console.print(table)
        }
        guard let cursor = page.next?.text, !showsAll else { return }
        target.console.note(
            "there are more \(state.rawValue) jobs: '--state \(state.rawValue) --cursor \(cursor)' shows the next, '--all' all.")
    }

    /// The time in the table, by state.
    private static func when(_ job: ListedJob) -> String {
        switch (job.state, job.since) {
        case (.delayed, let since?): since < .zero ? "due in \(Amounts.time(.zero - since))" : "due"
        case (.active, let since?): "for \(Amounts.time(since))"
        case (.dead, let since?): "\(Amounts.time(since)) ago"
        default: "enqueued \(Amounts.time(job.age)) ago"
        }
    }

    private static func attempts(_ job: ListedJob) -> String {
        guard job.failures + job.crashes > 0 else { return "-" }
        return "\(job.failures) failed" + (job.crashes > 0 ? ", \(job.crashes) crashed" : "")
    }

    /// The common steps of `jobs retry` and `jobs delete`: counts, asks, changes, tells.
    /// - Parameters:
    ///   - selections: One for each state.
    ///   - name: The change in JSON.
    ///   - verb: The begin of a sentence about the change.
    ///   - loss: What a change that cannot be undone loses, for the question before it.
    private static func change(
        _ arguments: Arguments, _ selections: [JobSelection], _ name: String, _ verb: String, loss: String? = nil,
        _ change: (FetchQueue, JobSelection, Int) async throws -> JobSweep
    ) async throws -> ExitStatus {
        let (state, filter) = (selections.count == 1 ? selections[0].state : nil, selections[0].filter)
        let (batch, limit) = (try arguments.optional(batch), try arguments.optional(most) ?? .max)
        let isDryRun = arguments.isSet(dryRun)
        // Without credentials.
        let url = try arguments.optional(url).map { RedactedURL.withoutSecrets(try RequestedURL($0).canonical) }
        let target = try QueueTarget(arguments)
        let confirmation = isDryRun ? nil : try loss.map { try Confirmation(arguments, of: $0) }

        // `12 dead jobs of the host h in the queue 'default'`.
        func phrase(_ count: Int) -> String {
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
        func show(_ count: Int, stuck: Int = 0, _ sentence: String) throws -> ExitStatus {
            try target.show(
                [
                    "schema": 1, "queue": .string(target.queue), "state": JSONValue(state?.rawValue), "host": JSONValue(filter.host),
                    "class": JSONValue(filter.errorClasses.isEmpty ? nil : filter.errorClasses.joined(separator: ",")),
                    "url": JSONValue(url), "text": JSONValue(filter.text), "batch": JSONValue(batch), "dryRun": .bool(isDryRun),
                    "count": .integer(count), "stuck": .integer(stuck),
                ], or: sentence)
        }
        return try await target.withQueue { queue in
            let selections = try await Self.selections(selections, of: batch, in: queue)
            func count() async throws -> Int {
                var count = 0
                for selection in selections where count < limit {
                    count += try await queue.count(selection, limit: limit - count).count
                }
                return count
            }
            if isDryRun {
                let count = try await count()
                return try show(count, "Would have been \(name): \(phrase(count)).")
            }
            if let confirmation, confirmation.mustAsk {
                let count = try await count()
                guard count > 0 else { return try show(0, "\(verb): \(phrase(0)).") }
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
            let status = try show(changed.count, stuck: changed.stuck, "\(verb): \(phrase(changed.count)).")
            if changed.count == 0, let unknown = UnknownQueue(target.queue, try await queue.overview()) {
                target.console.note(unknown.hint)
            }
            return status
        }
    }
}
