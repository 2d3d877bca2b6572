import Crawl
import GannetBase
import GannetQueue

/// `gannet enqueue`: hands URLs to the workers, and returns or waits for their end.
struct EnqueueCommand {
    private static let durability = Flag(
        "durability", .choice("durability", of: Durability.allCases), default: "primary",
        "Whose word counts before the URLs are reported as accepted: Redis' own ('primary'), or also that of a replica ('replicated'), so that "
            + "they survive a failover.")
    private static let keepWire = Toggle(
        "keep-wire",
        "Keep the requests and answers as they go over the wire, beside the bodies, for 'export --output-format warc'. A URL whose outcome is "
            + "known without them is fetched again. A failure that is remembered is not.")
    private static let asCache = Toggle(
        "as-cache",
        "The bodies are a mere cache: in Redis the ones that were not used for longest make room for others. Without this option they stay until "
            + "the batch has been exported, and workers take no more jobs while there is no room.")
    private static let wait = Toggle("wait", "Wait until the batch is complete. The exit status is 1 when a part of it failed.")

    static let spec = CommandSpec(
        "enqueue",
        summary: "Add URLs to a queue, for workers to fetch.",
        positional: InputOptions.positional,
        flags: InputOptions.flags + SubmissionFlags.flags + [
            keepWire.entry, asCache.entry, durability.entry, wait.entry, CommonFlags.json.entry,
        ] + QueueTarget.creatingFlags,
        mostUsed: ["input", "batch", "wait", "redis", "queue"],
        examples: [
            "gannet enqueue -i urls.txt --batch monday --redis redis://queue.example":
                "Hands a list to the workers, under a name to look for.",
            "gannet enqueue https://example.com/a.jpg --wait": "Hands one URL to the workers, and waits for its end.",
        ]
    ) { try await EnqueueCommand($0).run() }

    private let input: InputOptions
    /// A name of the user's own. Without one an interrupted batch cannot go on.
    private let name: String?
    private let batch: String
    private let submission: BatchOptions
    private let durability: Durability
    private let waits: Bool
    private let target: QueueTarget

    private var console: Console { target.console }

    private init(_ arguments: Arguments) throws {
        input = try InputOptions(arguments)
        name = try arguments.optional(SubmissionFlags.batch)
        batch = name ?? String(UInt64.random(in: .min ... .max), radix: 36)
        var submission = try SubmissionFlags.options(from: arguments)
        if arguments.isSet(Self.keepWire) { submission.keeping = .wire }
        if arguments.isSet(Self.asCache) {
            if arguments.isSet(Self.keepWire) {
                throw arguments.usageError("'--keep-wire' keeps answers for an export, and '--as-cache' lets them go before it.")
            }
            submission.keeping = .cache
        }
        self.submission = submission
        durability = try arguments.require(Self.durability)
        waits = arguments.isSet(Self.wait)
        target = try QueueTarget(arguments)
    }

    private func run() async throws -> ExitStatus {
        let rows = try Feeding.open(input)
        return try await target.connection.withAccess(console) { access, interruption in
            try await enqueue(rows, access.cluster.queue(target.queue), interruption)
        }
    }

    private func enqueue(_ rows: InputRows?, _ queue: FetchQueue, _ interruption: Interruption) async throws -> ExitStatus {
        let fed = await interruption.cancelling { try await feed(rows, queue) }
        guard let (summary, isResumed) = try fed.get(unlessInterrupted: interruption) else {
            console.note("interrupted: the accepted URLs stay in the queue\(goesOn)")
            return interruption.status
        }
        Feeding.complain(about: summary, of: rows, console)
        let isConfirmed = durability == .replicated && summary.accepted > 0 ? true : nil
        guard summary.accepted > 0 else {
            _ = try show(summary, isResumed, isConfirmed)
            throw CommandFailure(.noUsableInput, "The input holds no URL that can be fetched.")
        }
        guard waits else { return try show(summary, isResumed, isConfirmed) }
        let waited = await interruption.cancelling { try await queue.wait(for: batch, isKnown: true, console) }
        guard let outcome = try waited.get(unlessInterrupted: interruption) else {
            _ = try show(summary, isResumed, isConfirmed)
            console.note("interrupted: the batch stays in the queue; 'gannet batch wait \(batch)' waits for it.")
            return interruption.status
        }
        return try show(summary, isResumed, isConfirmed, outcome)
    }

    /// The end of a sentence about a command that has not done all: the batch goes on under its name, which may be Gannet's own.
    private var goesOn: String {
        name == nil
            ? " as the batch '\(batch)'. Add '--batch \(batch)' to the command to go on where it stopped."
            : ", and the same command goes on where it stopped."
    }

    private func feed(_ rows: InputRows?, _ queue: FetchQueue) async throws -> (EnqueueSummary, isResumed: Bool) {
        // A batch without a name of the user's own goes on under the name that messages tell.
        let source = input.fingerprint ?? "standard input"
        let beginning = try await Feeding.begin(input, rows, submission.headers)
        guard beginning.first != nil else { return (beginning.refused.summary, false) }
        let producer: Producer
        do {
            producer = try await Producer(
                queue, batch: batch, from: source, options: submission, durability: durability,
                replicaPatience: Times.current.replicas, behind: beginning.refused)
        } catch {
            let failure = CommandFailure(error)
            if Task.isCancelled || failure.status != .unavailable { throw error }
            throw CommandFailure(.unavailable, "\(failure.message ?? "") This command had accepted nothing before that\(goesOn)")
        }
        guard producer.origin == source else {
            throw CommandFailure(
                .wrongUsage,
                "The batch '\(batch)' was begun with another input, or its file has changed since; enqueue this one under another name.")
        }
        let before = producer.acceptedBefore
        if before > 0 {
            console.note("going on with the batch '\(batch)': \(Amounts.count(before, "URL")) had been accepted before.")
        }
        do {
            return (try await Feeding.feed(beginning, into: producer), before > 0)
        } catch let stopped as Feeding.Stopped {
            if Task.isCancelled { throw stopped.error }
            let failure = CommandFailure(stopped.error)
            if target.json, failure.status == .timedOut || failure.status == .unavailable {
                _ = try show(stopped.summary, before > 0, durability == .replicated ? false : nil)
            }
            let addition = name == nil ? " Add '--batch \(batch)' to the command." : ""
            switch failure.status {
            case .timedOut: throw CommandFailure(.timedOut, (failure.message ?? "") + addition)
            case .unavailable:
                // Redis has less of the batch than it had accepted.
                if case .batchLost? = StateError(stopped.error) {
                    throw CommandFailure(.unavailable, (failure.message ?? "") + addition)
                }
                let accepted = Amounts.count(stopped.summary.accepted, "URL")
                throw CommandFailure(
                    .unavailable, "\(failure.message ?? "") Before that \(accepted) had been accepted; they stay in the queue\(goesOn)")
            default: throw failure
            }
        }
    }

    /// Prints the result, and answers the exit status that it means.
    /// - Parameters:
    ///   - isResumed: The batch had been begun before.
    ///   - isConfirmed: A replica has the jobs too; `nil` where none was asked.
    ///   - outcome: The batch at its end, where the command waited for that.
    private func show(
        _ summary: EnqueueSummary, _ isResumed: Bool, _ isConfirmed: Bool?, _ outcome: Batch? = nil
    ) throws -> ExitStatus {
        let end = outcome.map { BatchReport(queue: target.queue, batch: $0) }
        let accepted =
            "Accepted \(Amounts.count(summary.accepted, "URL")); \(summary.invalid) invalid."
            + (summary.accepted > 0 ? " Batch: \(batch)" : "")
        return try target.show(
            [
                "schema": 1, "queue": .string(target.queue), "batch": summary.accepted > 0 ? .string(batch) : .null,
                "accepted": .integer(summary.accepted), "invalid": .integer(summary.invalid), "resumed": .bool(isResumed),
                "confirmed": isConfirmed.map { .bool($0) } ?? .null,
                "complaints": .array(summary.complaints.map { ["place": .string("\($0.place)"), "reason": .string($0.reason)] }),
                "outcome": outcome.map { Batch.fields.json(of: $0) } ?? .null,
            ], or: end.map { accepted + "\n" + $0.outcome + "." } ?? accepted,
            summary.invalid == 0 ? end?.status ?? .done : .someFailed)
    }
}
