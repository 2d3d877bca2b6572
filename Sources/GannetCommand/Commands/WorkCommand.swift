import CommandLineKit
import Gannet

/// `gannet work`: one worker process.
enum WorkCommand: Command {
    private static let store = Flag("store", .folder(), isRequired: true, "The folder that receives the bodies; made when missing.")
    private static let untilEmpty = Toggle("until-empty", "End when nothing is left to do, instead of waiting for more.")
    private static let later = ["cache-limit", "listen", "drain-timeout", "json", "log-format"]

    static let spec = CommandSpec(
        "work",
        summary: "Fetch what is in a queue, until a signal says otherwise.",
        flags: [store.entry, untilEmpty.entry] + FetchOptions.flags + ConnectionOptions.flags + [QueueOption.name.entry]
            + CommonFlags.everywhere
            + later.map(FlagEntry.later)
    )

    static func options(from arguments: Arguments) throws(UsageError) -> WorkOptions {
        let folder = try arguments.require(store)
        guard folder != "redis" else {
            throw arguments.usageError(
                "'--store redis' is not available in this version yet: name a folder ('./redis' for one of that name).")
        }
        return WorkOptions(
            store: folder,
            untilEmpty: arguments.isSet(untilEmpty),
            fetch: try FetchOptions(arguments),
            connection: try ConnectionOptions(arguments),
            queue: try arguments.require(QueueOption.name),
            verbosity: try Verbosity(arguments))
    }

    static func run(_ options: WorkOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(options.verbosity)
        let settings = try options.fetch.settings()
        let folder = try WorkFolder.open(options.store)
        let lock = try WorkFolder.lock(folder, .shared)
        defer { withExtendedLifetime(lock) {} }
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(options.connection, console: console)
            let tally = WorkTally(console, access.watch)
            var worker = options.fetch.workerOptions()
            worker.endsWhenEmpty = options.untilEmpty
            options.fetch.sayWhatProxyMeans(console)
            console.note("working on the queue '\(options.queue)'; Ctrl-C finishes what is in flight and ends.")
            let outcome = await access.cluster.work(
                on: options.queue, fetch: settings, into: folder, options: worker, stops: interruption.stops,
                report: tally.note)
            await access.close()
            tally.finish()
            let end = try outcome.value()
            try console.print(tally.summary)
            // A worker that was asked to stop and could finish what it had has done what it was asked to.
            switch end {
            case .empty, .drained: return .done
            case .handedBack: return interruption.status
            case .foreignLeft: return .unavailable
            }
        }
    }
}

/// What `gannet work` was asked to do.
struct WorkOptions: Sendable {
    /// The folder where bodies go.
    var store: String
    /// End when nothing is ready, active, parked or delayed.
    var untilEmpty: Bool
    var fetch: FetchOptions
    var connection: ConnectionOptions
    var queue: String
    var verbosity: Verbosity
}
