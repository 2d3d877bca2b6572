import Crawl
import GannetBase
import GannetQueue

/// The one batch that a command is about.
enum BatchArgument {
    static let positional = Positional("batch", isSingle: true, "The batch, by the name that 'enqueue' printed and 'batch list' shows.")

    static func unknown(_ name: String, _ queue: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "There is no batch \(Sentence.quoted(name)) in the queue '\(queue)'; 'gannet batch list' shows those there are.")
    }

    /// A batch that was there a moment ago.
    static func lost(_ name: String) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "Redis knows the batch \(Sentence.quoted(name)) no more: it has lost data, or somebody has purged the queue. Enqueue the list again."
        )
    }
}

/// `gannet batch list`: the batches that are remembered, the latest first.
struct BatchListCommand: Command {
    private static let limit = Flag("limit", .integer(in: 1...100_000), default: "50", "How many to show at most.")

    static let spec = CommandSpec(
        "list", summary: "List a queue's batches, the latest first.", flags: [limit.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet batch list --limit 5", "Lists the five latest batches.")
        ])

    private let limit: Int
    private let json: Bool
    private let target: QueueTarget

    init(_ arguments: Arguments) throws {
        limit = try arguments.require(Self.limit)
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
    }

    func run() async throws -> ExitStatus {
        let (batches, total) = try await target.withQueue(looking: true) { try await $0.batches(limit: limit) }
        let reports = batches.map { BatchReport(queue: target.queue, batch: $0) }
        if json {
            let json: JSONValue = [
                "schema": 1, "queue": .string(target.queue), "batches": Batch.fields.list(of: reports.map(\.batch)),
                "total": .integer(total),
            ]
            try target.console.print(json.text)
            return .done
        }
        guard !reports.isEmpty else {
            target.console.note("there are no batches in the queue '\(target.queue)'.")
            return .done
        }
        var table = TextTable("BATCH", "STATE", "PROGRESS", "DONE", "FAILED", "NOT PERMITTED", "CANCELLED", "PRIORITY", "BEGUN")
        for report in reports {
            let batch = report.batch
            table.add(
                batch.name, report.state, report.progress, String(batch.done),
                String(batch.failed - batch.disallowed), String(batch.disallowed), String(batch.cancelled),
                batch.options.priority.rawValue, batch.age.map { Amounts.time($0) + " ago" } ?? "unknown")
        }
        try target.console.print(table)
        if total > reports.count { target.console.note("\(total - reports.count) more; '--limit' shows them.") }
        return .done
    }
}

/// The arguments of the commands about one batch.
struct BatchTarget: Sendable {
    let batch: String
    let json: Bool
    let target: QueueTarget

    static let flags = [CommonFlags.json.entry] + QueueTarget.flags

    init(_ arguments: Arguments) throws {
        batch = arguments.single
        json = arguments.isSet(CommonFlags.json)
        target = try QueueTarget(arguments)
    }

    func report(_ batch: Batch?) throws -> BatchReport {
        guard let batch else { throw BatchArgument.unknown(self.batch, target.queue) }
        return BatchReport(queue: target.queue, batch: batch)
    }
}

/// `gannet batch show ID`: the progress and totals of a batch.
struct BatchShowCommand: Command {
    static let spec = CommandSpec(
        "show", summary: "Show a batch: its totals, its progress, its state.", positional: BatchArgument.positional,
        flags: [CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet batch show monday", "Shows the batch 'monday'.")
        ])

    private let options: BatchTarget

    init(_ arguments: Arguments) throws { options = try BatchTarget(arguments) }

    func run() async throws -> ExitStatus {
        let report = try options.report(try await options.target.withQueue(looking: true) { try await $0.batch(named: options.batch) })
        let console = options.target.console
        if options.json { try console.print(report.json.text) } else { try console.print(prose: report.text, indent: BatchReport.indent) }
        if let complaint = report.complaint { console.warn(complaint) }
        return .done
    }
}

/// `gannet batch cancel ID`: ends the waiting jobs of a batch.
struct BatchCancelCommand: Command {
    static let spec = CommandSpec(
        "cancel",
        summary: "Cancel a batch: its waiting jobs end now.",
        discussion: "Requests in flight are finished, and not tried again. Nothing can be added to the batch any more.",
        positional: BatchArgument.positional, flags: [CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet batch cancel monday", "Cancels the batch 'monday'.")
        ])

    private let options: BatchTarget

    init(_ arguments: Arguments) throws { options = try BatchTarget(arguments) }

    func run() async throws -> ExitStatus {
        let (cancelled, batch) = try await options.target.withQueue { queue in
            (try await queue.cancel(batch: options.batch) as Int?, try await queue.batch(named: options.batch))
        }
        let report = try options.report(batch)
        guard let ended = cancelled else { throw BatchArgument.unknown(options.batch, options.target.queue) }
        if options.json {
            try options.target.console.print(report.json.text)
        } else if ended == 0 {
            try options.target.console.print(prose: "No job of the batch was waiting: \(report.outcome).")
        } else {
            let rest = report.batch.active > 0 ? "; \(report.batch.active) in flight will be finished" : ""
            try options.target.console.print(prose: "Cancelled \(Amounts.count(ended, "job"))\(rest).")
        }
        return .done
    }
}

/// `gannet batch release ID`: the bodies of a batch need no export any more.
struct BatchReleaseCommand: Command {
    static let spec = CommandSpec(
        "release",
        summary: "Release the bodies of a batch: nobody is going to export them.",
        discussion:
            "Bodies in Redis stay until their batch has been exported, and workers wait while there is no room for others. From now on those of "
            + "this batch make room. A list that is enqueued with '--as-cache' needs no release.",
        positional: BatchArgument.positional, flags: [CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet batch release monday", "Gives up the bodies of the batch 'monday' that nobody has exported.")
        ])

    private let options: BatchTarget

    init(_ arguments: Arguments) throws { options = try BatchTarget(arguments) }

    func run() async throws -> ExitStatus {
        let batch = HoldingBatch(queue: options.target.queue, batch: options.batch)
        let (held, found) = try await options.target.withQueue { queue in
            let store = BlobStore(queue.cluster)
            let held = try await store.holdingBatches().contains(batch)
            try await store.release([batch])
            return (held, try await queue.batch(named: options.batch))
        }
        // A queue forgets its oldest batches.
        if !held { _ = try options.report(found) }
        if options.json {
            let json: JSONValue = ["schema": 1, "queue": .string(batch.queue), "batch": .string(batch.batch), "released": .bool(held)]
            try options.target.console.print(json.text)
        } else {
            try options.target.console.print(
                prose: held ? "Released: the bodies of the batch make room for others." : "The bodies of the batch were held by nobody.")
        }
        return .done
    }
}

/// `gannet batch wait ID`: returns when all jobs of a batch have ended.
struct BatchWaitCommand: Command {
    private static let timeout = Flag(
        "timeout", .duration(in: .milliseconds(1)...(.seconds(365 * 86_400))),
        "How long to wait at most. After that time the exit status is 75.")

    static let spec = CommandSpec(
        "wait",
        summary: "Wait until a batch is complete.",
        discussion: "The exit status is 0 when all of it was done, 1 when a part failed or was cancelled, and 75 when the time was up.",
        positional: BatchArgument.positional, flags: [timeout.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            Example("gannet batch wait monday --timeout 1h", "Waits for the batch 'monday', for an hour at most.")
        ])

    private let options: BatchTarget
    private let timeout: Duration?

    init(_ arguments: Arguments) throws {
        options = try BatchTarget(arguments)
        timeout = try arguments.optional(Self.timeout)
    }

    func run() async throws -> ExitStatus {
        let target = options.target
        return try await target.connection.withAccess(target.console, patience: min(.seconds(60), timeout ?? .seconds(60)), looking: true) {
            access, interruption in
            let queue = access.cluster.queue(target.queue)
            let outcome = await interruption.cancelling {
                try await queue.wait(for: options.batch, atMost: timeout, target.console)
            }
            guard let batch = try outcome.get(unlessInterrupted: interruption) else { return interruption.status }
            let report = BatchReport(queue: target.queue, batch: batch)
            let end = batch.isComplete ? report.status : .timedOut
            let status =
                options.json
                ? try target.console.print(report.json.text, last: end)
                : try target.console.print(prose: report.outcome + ".", last: end)
            if let complaint = report.complaint { target.console.error(complaint) }
            if !batch.isComplete {
                target.console.error("The batch was not complete in time: \(batch.total - batch.ended) of \(batch.total) have not ended.")
                await queue.tellWhatHolds(target.console)
            }
            return status
        }
    }
}

extension FetchQueue {
    private static let firstPause = Duration.milliseconds(20)
    private static let longestPause = Duration.milliseconds(500)
    private static let noteInterval = Duration.seconds(10)

    /// Waits for the end of a batch. It has to look for it: often at first, then twice a second.
    /// - Parameter isKnown: Redis has just accepted the batch.
    /// - Returns: The batch as it was at last: complete, unless the time was up.
    func wait(for name: String, isKnown: Bool = false, atMost limit: Duration? = nil, _ console: Console) async throws -> Batch {
        let end = limit.map { ContinuousClock.now + $0 }
        var pause = Self.firstPause
        var nextNote = ContinuousClock.now + Self.noteInterval
        var hasSaidOpen = false
        var last: Batch?
        while true {
            guard let status = try await look(at: name, until: end, after: last) else {
                // Nobody forgets a batch that is waited for, but a server that loses its data.
                throw last == nil && !isKnown ? BatchArgument.unknown(name, self.name) : BatchArgument.lost(name)
            }
            last = status
            let now = ContinuousClock.now
            if status.isComplete { return status }
            if let end, now >= end { return status }
            if status.state == .open, status.ended == status.total, !hasSaidOpen {
                hasSaidOpen = true
                console.note("all accepted URLs of the batch have ended, but its input is not closed: is its 'enqueue' still running?")
            }
            if now >= nextNote {
                nextNote = now + Self.noteInterval
                console.note("batch \(name): \(status.ended) of \(status.total) ended, \(status.failed - status.disallowed) failed")
                await tellWhatHolds(console)
            }
            try await Task.sleep(for: min(pause, end.map { max(.zero, $0 - now) } ?? pause))
            pause = min(Self.longestPause, pause * 2)
        }
    }

    /// Says why no worker takes jobs: the queue is paused, no worker is there, all wait for an export, or the jobs wait for hosts or a time.
    func tellWhatHolds(_ console: Console) async {
        guard let overview = try? await overview(), !overview.isPartial, overview.counts.open > 0 else { return }
        if overview.counts.isPaused {
            console.note("the queue is paused; 'gannet resume' lets it go on.")
        } else if !overview.hasLiveWorker {
            console.note("no worker is at work; 'gannet work' starts one.")
        } else if !overview.holding.isEmpty {
            console.note("there is no room for more bodies: \(HeldBodies(overview.holding).sentence)")
        } else if let wait = WaitText(overview.waits, of: overview.counts.open, remaining: overview.remaining) {
            console.note("\(wait.sentence).")
        }
    }

    /// The batch as it is, or as it was where Redis does not answer in time.
    private func look(at name: String, until end: ContinuousClock.Instant?, after last: Batch?) async throws -> Batch? {
        guard let end else { return try await batch(named: name) }
        return try await withThrowingTaskGroup(of: Batch?.self) { group in
            group.addTask { try await self.batch(named: name) }
            group.addTask {
                try await Task.sleep(until: max(end, .now + Self.shortestLook))
                guard let last else { throw CommandFailure(.timedOut, "Redis has not said in time how the batch stands.") }
                return last
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    private static let shortestLook = Duration.milliseconds(100)
}
