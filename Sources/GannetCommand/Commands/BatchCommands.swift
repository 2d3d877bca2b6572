import Crawl
import GannetBase
import GannetQueue

/// Commands about URLs that were enqueued together.
enum BatchCommands {
    static let group = CommandSpec(
        "batch", summary: "Look at URLs that were enqueued together, wait for them, release their bodies, or cancel them.",
        subcommands: [list, show, wait, release, cancel],
        examples: [
            "gannet batch list": "Lists the batches of the queue 'default', the latest first.",
            "gannet batch wait monday --timeout 1h": "Waits for the batch 'monday', for an hour at most.",
        ])

    private static let one = Positional("batch", isSingle: true, "The batch, by the name that 'enqueue' printed and 'batch list' shows.")
    private static let flags = [CommonFlags.json.entry] + QueueTarget.flags
    private static let limit = Flag("limit", .integer(in: 1...100_000), default: "50", "How many to show at most.")
    private static let timeout = Flag(
        "timeout", .duration(in: .milliseconds(1)...(.seconds(365 * 86_400))),
        "How long to wait at most. After that time the exit status is 75.")

    private static let list = CommandSpec(
        "list", summary: "List a queue's batches, the latest first.", flags: [limit.entry] + flags,
        examples: ["gannet batch list --limit 5": "Lists the five latest batches."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let limit = try arguments.require(limit)
        let (batches, total) = try await target.withQueue(looking: true) { try await $0.batches(limit: limit) }
        if target.json {
            let json: JSONValue = [
                "schema": 1, "queue": .string(target.queue), "batches": Batch.fields.list(of: batches), "total": .integer(total),
            ]
            return try target.console.print(json.text, last: .done)
        }
        guard !batches.isEmpty else {
            target.console.note("there are no batches in the queue '\(target.queue)'.")
            return .done
        }
        var table = TextTable("BATCH", "STATE", "PROGRESS", "DONE", "FAILED", "NOT PERMITTED", "CANCELLED", "PRIORITY", "BEGUN")
        for batch in batches {
            let report = BatchReport(queue: target.queue, batch: batch)
            table.add(
                batch.name, report.state, report.progress, String(batch.done),
                String(batch.failed - batch.disallowed), String(batch.disallowed), String(batch.cancelled),
                batch.options.priority.rawValue, batch.age.map { Amounts.time($0) + " ago" } ?? "unknown")
        }
        try target.console.print(table)
        if total > batches.count { target.console.note("\(total - batches.count) more; '--limit' shows them.") }
        return .done
    }

    private static let show = CommandSpec(
        "show", summary: "Show a batch: its totals, its progress, its state.", positional: one, flags: flags,
        examples: ["gannet batch show monday": "Shows the batch 'monday'."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let report = try report(
            try await target.withQueue(looking: true) { try await $0.batch(named: arguments.single) }, arguments, target)
        let status = try target.show(report.json, or: report.text, indent: BatchReport.indent)
        if let complaint = report.complaint { target.console.warn(complaint) }
        return status
    }

    private static let cancel = CommandSpec(
        "cancel",
        summary: "Cancel a batch: its waiting jobs end now.",
        discussion: "Requests in flight are finished, and not tried again. Nothing can be added to the batch any more.",
        positional: one, flags: flags,
        examples: ["gannet batch cancel monday": "Cancels the batch 'monday'."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let (cancelled, batch) = try await target.withQueue { queue in
            (try await queue.cancel(batch: arguments.single) as Int?, try await queue.batch(named: arguments.single))
        }
        let report = try report(batch, arguments, target)
        guard let ended = cancelled else { throw CommandFailure.unknownBatch(arguments.single, target.queue) }
        let rest = report.batch.active > 0 ? "; \(report.batch.active) in flight will be finished" : ""
        return try target.show(
            report.json,
            or: ended == 0 ? "No job of the batch was waiting: \(report.outcome)." : "Cancelled \(Amounts.count(ended, "job"))\(rest).")
    }

    private static let release = CommandSpec(
        "release",
        summary: "Release the bodies of a batch: nobody is going to export them.",
        discussion:
            "Bodies in Redis stay until their batch has been exported, and workers wait while there is no room for others. From now on those of "
            + "this batch make room. A list that is enqueued with '--as-cache' needs no release.",
        positional: one, flags: flags,
        examples: ["gannet batch release monday": "Gives up the bodies of the batch 'monday' that nobody has exported."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let batch = HoldingBatch(queue: target.queue, batch: arguments.single)
        let (held, found) = try await target.withQueue { queue in
            let store = BlobStore(queue.cluster)
            let held = try await store.holdingBatches().contains(batch)
            try await store.release([batch])
            return (held, try await queue.batch(named: batch.batch))
        }
        // A queue forgets its oldest batches.
        if !held { _ = try report(found, arguments, target) }
        return try target.show(
            ["schema": 1, "queue": .string(batch.queue), "batch": .string(batch.batch), "released": .bool(held)],
            or: held ? "Released: the bodies of the batch make room for others." : "The bodies of the batch were held by nobody.")
    }

    /// Returns when all jobs of a batch have ended.
    private static let wait = CommandSpec(
        "wait",
        summary: "Wait until a batch is complete.",
        discussion: "The exit status is 0 when all of it was done, 1 when a part failed or was cancelled, and 75 when the time was up.",
        positional: one, flags: [timeout.entry] + flags,
        examples: ["gannet batch wait monday --timeout 1h": "Waits for the batch 'monday', for an hour at most."]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let timeout = try arguments.optional(timeout)
        return try await target.connection.withAccess(target.console, patience: min(.seconds(60), timeout ?? .seconds(60)), looking: true) {
            access, interruption in
            let queue = access.cluster.queue(target.queue)
            let outcome = await interruption.cancelling {
                try await queue.wait(for: arguments.single, atMost: timeout, target.console)
            }
            guard let batch = try outcome.get(unlessInterrupted: interruption) else { return interruption.status }
            let report = BatchReport(queue: target.queue, batch: batch)
            let status = try target.show(report.json, or: report.outcome + ".", batch.isComplete ? report.status : .timedOut)
            if let complaint = report.complaint { target.console.error(complaint) }
            if !batch.isComplete {
                target.console.error("The batch was not complete in time: \(batch.total - batch.ended) of \(batch.total) have not ended.")
                await queue.tellWhatHolds(target.console)
            }
            return status
        }
    }

    private static func report(_ batch: Batch?, _ arguments: Arguments, _ target: QueueTarget) throws -> BatchReport {
        guard let batch else { throw CommandFailure.unknownBatch(arguments.single, target.queue) }
        return BatchReport(queue: target.queue, batch: batch)
    }
}

extension CommandFailure {
    static func unknownBatch(_ name: String, _ queue: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "There is no batch \(Sentence.quoted(name)) in the queue '\(queue)'; 'gannet batch list' shows those there are.")
    }

    /// A batch that was there a moment ago.
    fileprivate static func lostBatch(_ name: String) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "Redis knows the batch \(Sentence.quoted(name)) no more: it has lost data, or somebody has purged the queue. Enqueue the list again."
        )
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
                throw last == nil && !isKnown ? CommandFailure.unknownBatch(name, self.name) : .lostBatch(name)
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
            console.note("there is no room for more bodies: \(overview.holding.wayOut)")
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
