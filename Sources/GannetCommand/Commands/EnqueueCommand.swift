import CommandLineKit
import Gannet

/// `gannet enqueue`: hands URLs to the workers and returns.
enum EnqueueCommand: Command {
    private static let later = [
        "batch", "priority", "delay", "max-age", "refresh", "header", "wait", "json", "log-format",
    ]

    static let spec = CommandSpec(
        "enqueue",
        summary: "Add URLs to a queue, for workers to fetch.",
        positional: InputOptions.positional,
        flags: InputOptions.flags + ConnectionOptions.flags + [QueueOption.name.entry] + CommonFlags.everywhere + later.map(FlagEntry.later)
    )

    static func options(from arguments: Arguments) throws(UsageError) -> EnqueueOptions {
        EnqueueOptions(
            input: try InputOptions(arguments),
            connection: try ConnectionOptions(arguments),
            queue: try arguments.require(QueueOption.name),
            verbosity: try Verbosity(arguments))
    }

    static func run(_ options: EnqueueOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(options.verbosity)
        let rows = try Feeding.open(options.input)
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(options.connection, console: console)
            let queue = options.queue
            let batch = String(UInt64.random(in: .min ... .max), radix: 36)
            let outcome = await interruption.cancelling {
                let producer = try await access.cluster.producer(queue: queue, batch: batch, from: "")
                return try await Feeding.feed(options.input, rows, into: producer)
            }
            // Nobody can go on with this batch: as far as it came it is complete.
            if outcome.value == nil { await interruption.cleaningUp { try await access.cluster.close(batch: batch, of: queue) } }
            await access.close()
            guard let summary = try outcome.get(unlessInterrupted: interruption) else {
                console.note("interrupted: what had been accepted stays in the queue, the rest was not enqueued.")
                return interruption.status
            }
            return try report(summary, console)
        }
    }

    private static func report(
        _ summary: EnqueueSummary, _ console: Console
    ) throws(CommandFailure) -> ExitStatus {
        Feeding.complain(about: summary, console)
        try console.print("Accepted \(Amounts.count(summary.accepted, "URL")); \(summary.invalid) invalid.")
        guard summary.accepted > 0 else {
            throw CommandFailure(.noUsableInput, "The input holds no URL that can be fetched.")
        }
        return summary.invalid == 0 ? .done : .someFailed
    }
}

/// What `gannet enqueue` was asked to do.
struct EnqueueOptions: Sendable {
    var input: InputOptions
    var connection: ConnectionOptions
    var queue: String
    var verbosity: Verbosity
}
