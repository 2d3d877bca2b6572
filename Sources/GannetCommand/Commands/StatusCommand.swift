import CommandLineKit
import Gannet

/// `gannet status`: what is in a queue.
enum StatusCommand: Command {
    private static let json = Toggle("json", "Print one JSON object.")
    private static let later = ["watch", "log-format"]

    static let spec = CommandSpec(
        "status",
        summary: "Show what is waiting, active and done.",
        flags: [json.entry] + ConnectionOptions.flags + [QueueOption.name.entry] + CommonFlags.everywhere + later.map(FlagEntry.later)
    )

    static func options(from arguments: Arguments) throws(UsageError) -> StatusOptions {
        StatusOptions(
            json: arguments.isSet(json),
            connection: try ConnectionOptions(arguments),
            queue: try arguments.require(QueueOption.name),
            verbosity: try Verbosity(arguments))
    }

    static func run(_ options: StatusOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(options.verbosity)
        let access = try await ClusterAccess.open(options.connection, console: console, patience: .zero)
        let name = options.queue
        let (queue, server) = try await CommandFailure.wrapping { () throws(ClusterError) in
            (try await access.cluster.status(of: name), try await access.cluster.server())
        }
        await access.close()
        let report = StatusReport(name: name, queue: queue, server: server)
        try console.print(options.json ? report.json.text : report.text)
        return .done
    }
}

/// What `gannet status` was asked to do.
struct StatusOptions: Sendable {
    var json: Bool
    var connection: ConnectionOptions
    var queue: String
    var verbosity: Verbosity
}
