import CommandLineKit
import Gannet
import GannetBasics

/// `gannet status`: what is in a queue, once or over and over.
enum StatusCommand: Command {
    private static let json = Toggle("json", "Print one JSON object; with '--watch' one a line, every two seconds.")
    private static let watch = Toggle("watch", "Show it until 'q' or Ctrl-C, with charts of the last minutes.")

    static let spec = CommandSpec(
        "status",
        summary: "Show what is waiting, active and done, and who works on it.",
        flags: [json.entry, watch.entry] + ConnectionOptions.flags + [QueueOption.name.entry] + CommonFlags.everywhere
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

/// What `gannet status` was asked to do.
struct StatusOptions: Sendable {
    var json: Bool
    /// Over and over, until it is asked to end.
    var watch: Bool
    var connection: ConnectionOptions
    var queue: String
    var log: LogOptions
}
