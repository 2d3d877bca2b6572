import GannetBase
import GannetQueue

/// `gannet queues`: the queues of a namespace.
struct QueuesCommand: Command {
    static let spec = CommandSpec(
        "queues", summary: "List the queues of the namespace.",
        flags: [CommonFlags.json.entry] + ConnectionOptions.flags + CommonFlags.everywhere,
        examples: [
            Example("gannet queues", "Lists each queue with its jobs and workers.")
        ])

    private let connection: ConnectionOptions
    private let console: Console
    private let json: Bool

    init(_ arguments: Arguments) throws {
        connection = try ConnectionOptions(arguments)
        console = Console(try LogOptions(arguments))
        json = arguments.isSet(CommonFlags.json)
    }

    func run() async throws -> ExitStatus {
        let queues = try await connection.withCluster(console, looking: true) { try await $0.queues() }
        if json {
            let list = queues.map { queue -> JSONValue in
                [
                    "queue": .string(queue.name), "paused": .bool(queue.counts.isPaused), "notEnded": .integer(queue.counts.open),
                    "done": .integer(queue.counts.done), "dead": .integer(queue.counts.dead), "workers": .integer(queue.workers),
                ]
            }
            try console.print(
                JSONValue.object([("schema", 1), ("namespace", .string(connection.namespace)), ("queues", .array(list))]).text)
            return .done
        }
        guard !queues.isEmpty else {
            console.note("there are no queues in the namespace '\(connection.namespace)'.")
            return .done
        }
        var table = TextTable([("QUEUE", .left), ("NOT ENDED", .right), ("DONE", .right), ("DEAD", .right), ("WORKERS", .right)])
        for queue in queues {
            table.add(
                [
                    queue.name.printable + StatusText.pause(of: queue.counts), "\(queue.counts.open)", "\(queue.counts.done)",
                    "\(queue.counts.dead)", "\(queue.workers)",
                ].map { StyledText($0) })
        }
        try console.print(table)
        return .done
    }
}

/// `gannet pause`: workers finish their jobs and claim no more.
struct PauseCommand: Command {
    static let spec = CommandSpec(
        "pause", summary: "Pause a queue: its jobs wait until 'resume', and requests in flight are finished.", flags: QueueTarget.flags,
        examples: [
            Example("gannet pause --queue images", "Pauses the queue 'images'.")
        ])

    private let target: QueueTarget

    init(_ arguments: Arguments) throws { target = try QueueTarget(arguments) }

    func run() async throws -> ExitStatus {
        let (wasPaused, unknown) = try await target.withQueue { queue in
            // The queue is paused also where its counters cannot be read. They are for a note alone.
            (try await queue.pause(), (try? await queue.overview()).flatMap { UnknownQueue(target.queue, $0) })
        }
        let name = "queue '\(target.queue)'"
        if let unknown {
            target.console.note("nothing was put into the \(name) yet." + (unknown.names.map { " \($0)." } ?? ""))
        }
        try target.console.print(
            prose: wasPaused ? "The \(name) was paused already." : "Paused the \(name); 'gannet resume' lets it go on.")
        return .done
    }
}

/// `gannet resume`: undoes `gannet pause`.
struct ResumeCommand: Command {
    static let spec = CommandSpec(
        "resume", summary: "Let a paused queue go on.", flags: QueueTarget.flags,
        examples: [
            Example("gannet resume --queue images", "Lets the queue 'images' go on.")
        ])

    private let target: QueueTarget

    init(_ arguments: Arguments) throws { target = try QueueTarget(arguments) }

    func run() async throws -> ExitStatus {
        let wasPaused = try await target.withQueue { try await $0.resume() }
        try target.console.print(prose: wasPaused ? "The queue '\(target.queue)' goes on." : "The queue '\(target.queue)' was not paused.")
        return .done
    }
}

/// `gannet purge`: empties a queue.
struct PurgeCommand: Command {
    static let spec = CommandSpec(
        "purge",
        summary: "Remove everything in a queue: its jobs in every state, its batches and its totals.",
        discussion:
            "Requests in flight are finished and not counted. Bodies, and the outcomes of URLs, stay.",
        flags: [Confirmation.yes.entry] + QueueTarget.flags,
        examples: [
            Example("gannet purge --queue images --yes", "Empties the queue 'images' without a question.")
        ])

    private let target: QueueTarget
    private let confirmation: Confirmation

    init(_ arguments: Arguments) throws {
        target = try QueueTarget(arguments)
        confirmation = try Confirmation(arguments, of: "'purge' empties a queue")
    }

    func run() async throws -> ExitStatus {
        try await target.withQueue(looking: true) { queue in
            let counts = try await queue.counts()
            let open = counts.open
            let content =
                "\(Amounts.count(open, "job")) that \(open == 1 ? "has" : "have") not ended, \(counts.dead) dead, and the totals"
            guard confirmation.ask("Remove everything in the queue '\(target.queue)': \(content)?", target.console) else { return .done }
            try await queue.purge()
            try target.console.print(prose: "Removed from the queue '\(target.queue)': \(content).")
            return .done
        }
    }
}
