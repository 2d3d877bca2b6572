import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet work`: one worker process.
enum WorkCommand: Command {
    private static let untilEmpty = Toggle("until-empty", "End when nothing is left to do, instead of waiting for more.")

    static let spec = CommandSpec(
        "work",
        summary: "Fetch the URLs of a queue until a signal comes.",
        flags: StoreOptions.flags + [NameOption.style.entry, untilEmpty.entry, DrainOption.time.entry, ListenOption.address.entry]
            + FetchOptions.flagsForJobs + ConnectionOptions.flags + [QueueOption.name.entry] + CommonFlags.everywhere
    )

    static func options(from arguments: Arguments) throws(UsageError) -> WorkOptions {
        WorkOptions(
            store: try StoreOptions(arguments),
            names: try NameOption.style(arguments),
            drainTimeout: try arguments.require(DrainOption.time),
            untilEmpty: arguments.isSet(untilEmpty),
            listen: try arguments.optional(ListenOption.address),
            fetch: try FetchOptions(arguments),
            connection: try ConnectionOptions(arguments),
            queue: try arguments.require(QueueOption.name),
            log: try LogOptions(arguments))
    }

    static func run(_ options: WorkOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(options.log)
        let settings = try options.fetch.checkedSettings()
        let folder = try options.store.folder.map { path throws(CommandFailure) in try WorkFolder.open(path, names: options.names) }
        let lock = try folder.map { folder throws(CommandFailure) in try SharedFolderLock(folder) }
        defer { withExtendedLifetime(lock) {} }
        let endpoint = try options.listen.map { address throws(CommandFailure) in try WorkerEndpoint(address, console: console) }
        defer { endpoint?.stop() }
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(options.connection, console: console, unless: interruption)
            let tally = WorkTally(console, access.watch)
            var worker = options.fetch.workerOptions()
            worker.endsWhenEmpty = options.untilEmpty
            worker.drainTimeout = options.drainTimeout
            let bodies = folder == nil ? try await openBodies(access.cluster, options, worker) : nil
            guard let output: any JobOutput = folder ?? bodies else { throw CommandFailure(.defect, "There is no place for bodies.") }
            endpoint?.watch(
                .init(
                    cluster: access.cluster, queue: options.queue, options: worker,
                    bodyLimit: folder == nil ? options.store.cacheLimit : nil, tally: tally, interruption: interruption))
            options.fetch.sayWhatProxyMeans(console)
            console.note("working on the queue '\(options.queue)'; Ctrl-C finishes what is in flight and ends.")
            let display = ProgressDisplay(of: tally, on: console)
            let how = worker
            let work = Task {
                try await Worker.work(
                    on: options.queue, of: access.cluster, fetch: settings, into: output, options: how, stops: interruption.stops,
                    activity: tally.activity, report: tally.note)
            }
            let outcome = await work.result
            await display.end()
            await bodies?.close()
            if case .success(.empty) = outcome { await tally.lookForLoss(access.cluster.queue(options.queue)) }
            await access.close()
            tally.finish()
            let end = try await CommandFailure.wrapping { try outcome.get() }
            // A worker that was asked to stop and has finished its jobs has succeeded.
            let status: ExitStatus =
                switch end {
                case .empty where tally.losses > 0: .unavailable
                case .empty, .drained: .done
                case .handedBack: interruption.status
                case .foreignLeft: .unavailable
                }
            // Among the lines of JSON, for people who collect both outputs.
            guard options.log.format == .text else {
                tally.logSummary(status)
                return status
            }
            return try console.print(tally.summary, last: status)
        }
    }
}

extension WorkCommand {
    private static func openBodies(
        _ cluster: ClusterState, _ options: WorkOptions, _ worker: WorkerOptions
    ) async throws(CommandFailure) -> RedisBodies {
        try await CommandFailure.wrapping {
            RedisBodies(
                try await cluster.connect(patience: ClusterState.bodyPatience), namespace: cluster.namespace,
                limit: options.store.cacheLimit, sparing: worker.lease, temporaryFolder: FileManager.default.temporaryDirectory.path,
                patience: worker.outagePatience)
        }
    }
}

/// A folder that several workers use at a time, and no run.
private final class SharedFolderLock {
    private let lock: FolderLock

    init(_ folder: BodyFolder) throws(CommandFailure) { lock = try WorkFolder.lock(folder, .shared) }
}

/// The arguments of `gannet work`.
struct WorkOptions: Sendable {
    var store: StoreOptions
    /// The names of bodies that are files.
    var names: NameStyle
    /// How long jobs in flight may go on once a stop has been asked for.
    var drainTimeout: Duration
    /// End when nothing is ready, active, parked or delayed.
    var untilEmpty: Bool
    /// Where it answers questions about its health, if anywhere.
    var listen: ListenAddress?
    var fetch: FetchOptions
    var connection: ConnectionOptions
    var queue: String
    var log: LogOptions
}
