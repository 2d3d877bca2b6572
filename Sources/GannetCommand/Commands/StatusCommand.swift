import GannetBase
import GannetQueue

/// `gannet status`: the state of a queue, once or again and again.
enum StatusCommand {
    private static let json = Toggle("json", "Print one JSON object. With '--watch' it is one object a line, every two seconds.")
    private static let watch = Toggle("watch", "Show the status until 'q' or Ctrl-C, with charts of the last minutes.")

    static let spec = CommandSpec(
        "status",
        summary: "Show how many jobs of a queue wait, run and have ended, and its workers.",
        flags: [json.entry, watch.entry] + QueueTarget.flags,
        notes: [
            HelpNote(
                "THE STATE OF A JOB",
                [
                    ("ready", "It waits for a worker."),
                    ("active", "A worker has it."),
                    ("parked", "It waits for another job's fetch of the same URL."),
                    ("delayed", "It waits for its next attempt, or for the time of its '--delay'."),
                    ("dead", "It has ended as failed, and is kept to be looked at or retried: see 'gannet jobs'."),
                ]),
            HelpNote(
                "HOW A JOB ENDED",
                [
                    ("fetched", "Its body was fetched."),
                    ("unchanged", "Its origin said that the body in its place is still right."),
                    ("there already", "Its body was in its place, so nothing was fetched."),
                    (
                        "failed",
                        "It was given up, or skipped because its URL had failed a short while ago. The last failed jobs are kept as dead jobs."
                    ),
                    ("cancelled", "It was deleted, or its batch was cancelled."),
                ]),
            HelpNote(
                "A WORKER",
                [
                    ("jobs", "The jobs that it has, also those whose bodies and outcomes are on their way to their places."),
                    ("places", "How many requests it makes at once."),
                ]),
            HelpNote(
                "COUNTS OF ATTEMPTS",
                [
                    ("retried", "Attempts that failed and were followed by another."),
                    ("crashed", "Attempts whose worker vanished. A job that three workers vanished with is dead."),
                ]),
        ],
        examples: [
            "gannet status": "Prints the state of the queue 'default'.",
            "gannet status --watch --queue images": "Shows a queue with charts, until 'q'.",
        ]
    ) { try await run($0) }

    private static func run(_ arguments: Arguments) async throws -> ExitStatus {
        let target = try QueueTarget(arguments)
        guard arguments.isSet(watch) else {
            let status = try await target.withCluster(looking: true) { try await StatusReport.look(at: target.queue, of: $0) }
            if let unknown = status.unknown { target.console.note(unknown.hint) }
            try target.console.print(text(of: status, target))
            return .done
        }
        return try await target.connection.withAccess(target.console, patience: .zero, looking: true) { access, interruption in
            // A namespace that is new at first has its partitions as soon as a program uses it.
            let look = { @Sendable last in
                try await StatusReport.look(at: target.queue, of: access.cluster.begun(), after: last)
            }
            if !target.json, let terminal = Terminal(Surroundings.current.output) {
                return try await WatchSession(terminal: terminal, interruption: interruption, look: look).run()
            }
            return try await print(look, until: interruption, target)
        }
    }

    /// Again and again, for a file, a pipe or a log.
    private static func print(
        _ look: @escaping @Sendable (StatusReport?) async throws -> StatusReport, until interruption: Interruption, _ target: QueueTarget
    ) async throws -> ExitStatus {
        let console = target.console
        let pause = Times.current.watch
        let printing = await interruption.cancelling { () async throws -> Void in
            var isAway = false
            while true {
                do {
                    let status = try await look(nil)
                    if isAway { console.note("Redis is back.") }
                    isAway = false
                    try console.print(text(of: status, target))
                } catch {
                    // A signal also ends the command to Redis that is under way.
                    try Task.checkCancellation()
                    let failure = CommandFailure(error)
                    guard failure.status == .unavailable else { throw failure }
                    if !isAway { console.error(failure.message ?? "Redis is away.") }
                    isAway = true
                }
                try await Task.sleep(for: pause)
            }
        }
        _ = try printing.get(unlessInterrupted: interruption)
        return interruption.status
    }

    private static func text(of status: StatusReport, _ target: QueueTarget) -> String {
        if target.json { return status.json.text }
        var style = TerminalStyle(Surroundings.current.environment)
        let terminal = Terminal(Surroundings.current.output)
        style.hasColor = style.hasColor && terminal != nil
        return status.lines(style, columns: terminal?.size.columns).joined(separator: "\n")
    }
}
