import Crawl
import GannetBase
import GannetQueue

/// Commands about the workers of a queue.
enum WorkersCommands {
    static let group = CommandSpec(
        "workers", summary: "Look at the workers of a queue, or let them finish their jobs and end.", subcommands: [list, drain],
        examples: [
            "gannet workers list": "Lists the workers of the queue 'default'.",
            "gannet workers drain --all": "Lets all of them finish their jobs and end, and waits for that.",
        ])

    private static let allQueues = Toggle("all-queues", "List the workers of all queues.")
    private static let all = Toggle("all", "Drain all workers that the queue has now.")
    private static let noWait = Toggle("no-wait", "Return at once, and do not wait for the end of the workers.")
    private static let timeout = Flag(
        "timeout", .duration(in: .milliseconds(1)...(.seconds(365 * 86_400))), default: "5m",
        "How long to wait at most for the end of the workers. After that time the exit status is 75.")

    /// The workers that were heard of lately.
    private static let list = CommandSpec(
        "list",
        summary: "List the workers of a queue.",
        discussion:
            "JOBS are the jobs that a worker has, also those whose bodies and outcomes are on their way to their places. PLACES is how many "
            + "requests it makes at once, and what keeps it from more: files, memory, processor, names (name servers) or network. RATE counts the requests that ended in the last five to ten seconds before the worker was heard of, and JOBS "
            + "the jobs in that moment. So a worker whose jobs take milliseconds, or have just run out, has a RATE and may have no JOBS. A worker that has ended is not listed. A worker that was killed, or ended "
            + "while Redis was away, is listed as silent, for ten minutes. Another worker gets its jobs when its lease has ended.",
        flags: [allQueues.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            "gannet workers list": "Lists the workers of the queue 'default'.",
            "gannet workers list --all-queues --json": "Prints the workers of all queues for a script.",
        ]
    ) { arguments in
        let target = try QueueTarget(arguments)
        let ofAll = arguments.isSet(allQueues)
        let (listings, partitions) = try await target.withCluster(looking: true) { cluster in
            var listings: [(queue: String, workers: [WorkerStatus])] = []
            for queue in ofAll ? try await cluster.queuesWithWorkers() : [target.queue] {
                listings.append((queue, try await cluster.queue(queue).workers()))
            }
            return (listings, cluster.partitions.count)
        }
        if target.json {
            let json: JSONValue = [
                "schema": 1, "queue": ofAll ? .null : .string(target.queue),
                "workers": .array(
                    listings.flatMap { queue, workers in
                        workers.byMachine.map { worker in
                            JSONValue.object([(key: "queue", value: JSONValue.string(queue))] + WorkerStatus.fields.members(of: worker))
                        }
                    }),
            ]
            return try target.console.print(json.text, last: .done)
        }
        guard listings.contains(where: { !$0.workers.isEmpty }) else {
            let place = ofAll ? "namespace '\(target.connection.namespace)'" : "queue '\(target.queue)'"
            target.console.note("no worker of the \(place) was heard of lately; 'gannet work' starts one.")
            return .done
        }
        try target.console.print(table(listings, hasQueues: ofAll, partitions))
        return .done
    }

    private static func table(
        _ listings: [(queue: String, workers: [WorkerStatus])], hasQueues: Bool, _ partitions: Int
    ) -> TextTable {
        // Neither this column nor that of the queues says anything where it has one value.
        let hasPartitions = partitions > 1
        var columns: [(title: String, side: TextTable.Side)] = [("WORKER", .left)]
        if hasQueues { columns.append(("QUEUE", .left)) }
        columns += [
            ("ON", .left), ("PID", .right), ("VERSION", .left), ("RUNS FOR", .right), ("HEARD", .right), ("JOBS", .right),
            ("PLACES", .right),
            ("RATE", .right),
        ]
        if hasPartitions { columns.append(("PARTITIONS", .left)) }
        var table = TextTable(columns + [("STATE", .left)])
        for (queue, workers) in listings {
            for worker in workers.byMachine {
                let record = worker.record
                var row = [worker.id]
                if hasQueues { row.append(queue.printable) }
                row += [
                    record?.machine ?? "-", record.map { "\($0.processID)" } ?? "-", record?.version ?? "-",
                    worker.age.map { Amounts.roughTime($0) } ?? "-",
                    "\(Amounts.roughTime(worker.heartbeat)) ago",
                    record.map { "\($0.active)" } ?? "-", record?.places ?? "-",
                    record?.endedPerSecond.map { "\(Amounts.rate($0))/s" } ?? "-",
                ]
                if hasPartitions { row.append(Self.shown(record?.partitions, of: partitions)) }
                row.append(worker.stateText ?? "-")
                table.add(row.map { StyledText($0.withoutSteering) })
            }
        }
        return table
    }

    private static let mostPartitions = 4

    private static func shown(_ partitions: [Int]?, of all: Int) -> String {
        guard let partitions else { return "-" }
        if partitions.count > mostPartitions { return "\(partitions.count) of \(all)" }
        return partitions.isEmpty ? "none" : partitions.map(String.init).joined(separator: ", ")
    }

    private static let drain = CommandSpec(
        "drain",
        summary: "Let workers finish the jobs that they hold, and end.",
        discussion:
            "A worker hears of it with its next heartbeat, within five seconds. It takes no more jobs and ends as after SIGTERM: with 0, "
            + "or after its '--drain-timeout'. A worker that starts later is not concerned. A supervisor may start a worker again that "
            + "has ended: stop such a worker there.",
        positional: Positional("worker", "The workers, by the names that 'workers list' shows."),
        flags: [all.entry, noWait.entry, timeout.entry, CommonFlags.json.entry] + QueueTarget.flags,
        examples: [
            "gannet workers drain 2x8kq1m0c4v7a": "Drains one worker, and waits until it has ended.",
            "gannet workers drain --all --timeout 10m": "Drains all workers of the queue 'default', for ten minutes at most.",
        ]
    ) { arguments in
        var seen: Set<String> = []
        let drain = Drain(
            names: arguments.positionals.filter { seen.insert($0).inserted }, all: arguments.isSet(all),
            waits: !arguments.isSet(noWait), timeout: try arguments.require(timeout), target: try QueueTarget(arguments))
        if drain.all != drain.names.isEmpty {
            throw arguments.usageError(
                drain.all ? "'--all' names all workers already: leave the names out." : "Name the workers to drain, or say '--all'.")
        }
        // A command that does not wait for workers does not wait for a server either.
        let patience = drain.waits ? min(.seconds(60), drain.timeout) : .zero
        return try await drain.target.connection.withAccess(drain.target.console, patience: patience, looking: true) {
            access, interruption in
            let queue = access.cluster.queue(drain.target.queue)
            let outcome = await interruption.cancelling { try await drain.drain(queue) }
            return try outcome.get(unlessInterrupted: interruption) ?? interruption.status
        }
    }
}

/// Asks workers to finish their jobs, and waits for their ends.
private struct Drain: Sendable {
    let names: [String]
    let all: Bool
    let waits: Bool
    let timeout: Duration
    let target: QueueTarget

    private var console: Console { target.console }

    func drain(_ queue: FetchQueue) async throws -> ExitStatus {
        let start = ContinuousClock.now
        let asked = try await ask(queue)
        guard waits, !asked.isEmpty else { return try tell(asked: asked, left: asked) }
        console.note("asked \(count(asked.count)) to drain; waiting for the end.")
        let left = try await wait(for: asked, in: queue, until: start + timeout)
        return try tell(asked: asked, left: left)
    }

    /// Answers the names of the workers that were asked.
    private func ask(_ queue: FetchQueue) async throws -> [String] {
        while true {
            let workers = try await queue.workers()
            let silent = workers.filter { $0.state == .silent }.map(\.id)
            let wanted = all ? workers.map(\.id).filter { !silent.contains($0) }.sorted() : names
            let unknown = try await queue.drain(wanted)
            if unknown.isEmpty {
                if all, !silent.isEmpty { console.note("left out, because nothing was heard of them for a while: \(list(silent)).") }
                return wanted
            }
            // A worker of all may have ended since it was listed.
            guard all else {
                let word = unknown.count == 1 ? "is no worker" : "are no workers"
                throw CommandFailure(
                    .wrongUsage,
                    "There \(word) \(list(unknown)) in the queue '\(target.queue)', so nobody was asked; "
                        + "'gannet workers list --all-queues' shows those there are.")
            }
        }
    }

    private static let pause = Duration.milliseconds(200)
    private static let noteInterval = Duration.seconds(10)

    /// Answers the workers that have not ended.
    private func wait(for asked: [String], in queue: FetchQueue, until end: ContinuousClock.Instant) async throws -> [String] {
        var nextNote = ContinuousClock.now + Self.noteInterval
        while true {
            let left = try await queue.workers().filter { asked.contains($0.id) }
            let silent = left.filter { $0.state == .silent }.map(\.id)
            // Nothing comes from these any more, so a longer wait would bring nothing.
            if silent.count == left.count {
                if !silent.isEmpty {
                    console.error(
                        "Nothing was heard for a while of \(list(silent)): gone without a farewell, or without a connection to Redis. "
                            + "Another worker takes the jobs over.")
                }
                return silent.sorted()
            }
            let now = ContinuousClock.now
            if now >= end {
                console.error("Not all workers have ended in time. Left: \(list(left.map(\.id))).")
                return left.map(\.id).sorted()
            }
            if now >= nextNote {
                nextNote = now + Self.noteInterval
                let jobs = left.reduce(0) { $0 + ($1.record?.active ?? 0) }
                console.note(
                    "\(count(left.count)) \(left.count == 1 ? "has" : "have") not ended yet, with \(Amounts.count(jobs, "job")) left")
            }
            try await Task.sleep(for: min(Self.pause, end - now))
        }
    }

    private func tell(asked: [String], left: [String]) throws -> ExitStatus {
        let place = "of the queue '\(target.queue)'"
        let sentence =
            if asked.isEmpty {
                "No worker \(place) was there to drain."
            } else if waits {
                "Ended: \(asked.count - left.count) of \(count(asked.count)) \(place)."
            } else {
                "Asked \(count(asked.count)) \(place) to drain."
            }
        return try target.show(
            [
                "schema": 1, "queue": .string(target.queue), "asked": .array(asked.map { .string($0) }),
                "ended": .array(asked.filter { !left.contains($0) }.map { .string($0) }), "left": .array(left.map { .string($0) }),
            ], or: sentence, waits && !left.isEmpty ? .timedOut : .done)
    }

    private func count(_ workers: Int) -> String { Amounts.count(workers, "worker") }
    private func list(_ names: [String]) -> String { names.sorted().map { Sentence.quoted($0) }.joined(separator: ", ") }
}
