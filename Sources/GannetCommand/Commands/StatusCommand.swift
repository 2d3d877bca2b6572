import CommandLineKit
import Gannet
import GannetBasics

/// `gannet status`: the state of a queue, once or again and again.
enum StatusCommand: Command {
    private static let json = Toggle("json", "Print one JSON object. With '--watch' it is one object a line, every two seconds.")
    private static let watch = Toggle("watch", "Show the status until 'q' or Ctrl-C, with charts of the last minutes.")

    static let spec = CommandSpec(
        "status",
        summary: "Show how many jobs of a queue wait, run and have ended, and its workers.",
        flags: [json.entry, watch.entry] + ConnectionOptions.flags + [QueueOption.name.entry] + CommonFlags.everywhere,
        notes: [
            HelpNote(
                "THE STATE OF A JOB",
                [
                    ("ready", "It waits for a worker."),
                    ("active", "A worker has it."),
                    ("parked", "It waits for another job's fetch of the same URL."),
                    ("delayed", "It waits for its next attempt, or for the time of its '--delay'."),
                    ("dead", "It has failed for good, and is kept to be looked at or retried: see 'gannet jobs'."),
                ]),
            HelpNote(
                "HOW A JOB ENDED",
                [
                    ("fetched", "Its body was fetched."),
                    ("unchanged", "Its origin said that the body in its place is still right."),
                    ("there already", "Its body was in its place, so nothing was fetched."),
                    ("failed", "It was given up. The last failed jobs are kept as dead jobs."),
                    ("cancelled", "It was deleted, or its batch was cancelled."),
                ]),
            HelpNote(
                "COUNTS OF ATTEMPTS",
                [
                    ("retried", "Attempts that failed and were followed by another."),
                    ("crashed", "Attempts whose worker vanished. A job that three workers vanished with is dead."),
                ]),
        ]
    )

    static func options(from arguments: Arguments) throws(UsageError) -> StatusOptions {
        StatusOptions(
            json: arguments.isSet(json),
            watch: arguments.isSet(watch),
            connection: try ConnectionOptions(arguments),
            queue: try arguments.require(QueueOption.name),
            log: try LogOptions(arguments))
    }

    static func run(_ options: StatusOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(options.log)
        guard options.watch else {
            let access = try await ClusterAccess.open(options.connection, console: console, patience: .zero)
            defer { withExtendedLifetime(access) {} }
            let status = try await StatusSource(access.cluster, queue: options.queue).look()
            await access.close()
            if let hint = status.hint { console.note(hint) }
            try console.print(text(of: status, options))
            return .done
        }
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(options.connection, console: console, patience: .zero, unless: interruption)
            let source = StatusSource(access.cluster, queue: options.queue)
            let status: ExitStatus
            if !options.json, let terminal = Terminal(STDOUT_FILENO) {
                status = try await WatchSession(source, on: terminal, interruption).run()
            } else {
                status = try await RepeatedStatus(source, interruption, console) { text(of: $0, options) }.run()
            }
            await access.close()
            return status
        }
    }

    private static func text(of status: StatusReport, _ options: StatusOptions) -> String {
        if options.json { return status.json.text }
        var style = TerminalStyle(ProcessInfo.processInfo.environment)
        style.hasColor = style.hasColor && Terminal(STDOUT_FILENO) != nil
        return StatusText(status: status, style: style).text
    }
}

/// The arguments of `gannet status`.
struct StatusOptions: Sendable {
    var json: Bool
    /// Again and again, until a signal.
    var watch: Bool
    var connection: ConnectionOptions
    var queue: String
    var log: LogOptions
}
