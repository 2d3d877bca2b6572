import ClusterState
import CommandLineKit
import Gannet

/// `gannet run`: the whole thing in one process.
enum RunCommand: Command {
    private static let directory = Flag(
        "dir", short: "d", .folder(), isRequired: true, "The folder that receives the bodies. It is made when it is missing.")
    private static let maxFailures = Flag(
        "max-failures", .failureLimit, default: "0",
        "How many rows, or what share of them, may fail or be invalid before the exit status is 1."
    )
    private static let json = Toggle("json", "Print a JSON object for each row of the input, in its order, and one with the totals.")

    static let spec = CommandSpec(
        "run",
        summary: "Fetch URLs into a folder, in one process.",
        discussion:
            "It writes a manifest with the outcome of each row into the folder, and leaves nothing in Redis. The same command again "
            + "fetches only the URLs that are not there already.",
        positional: InputOptions.positional,
        flags: InputOptions.flags + [directory.entry, NameOption.style.entry, maxFailures.entry] + SubmissionFlags.flags
            + [json.entry, DrainOption.time.entry, ListenOption.ofRun.entry] + FetchOptions.flagsForJobs + ConnectionOptions.flags
            + CommonFlags.everywhere
            + [QueueOption.refused]
    )

    static func options(from arguments: Arguments) throws(UsageError) -> RunOptions {
        try QueueOption.refuse(arguments)
        return RunOptions(
            input: try InputOptions(arguments, rest: " -d " + Sentence.quotedForShell(try arguments.require(directory))),
            directory: try arguments.require(directory),
            names: try NameOption.style(arguments),
            batch: try arguments.optional(SubmissionFlags.batch) ?? RunIdentity.batch,
            submission: try SubmissionFlags.options(from: arguments),
            maxFailures: try arguments.require(maxFailures),
            json: arguments.isSet(json),
            drainTimeout: try arguments.require(DrainOption.time),
            listen: try ListenOption.ofRun(arguments),
            fetch: try FetchOptions(arguments),
            connection: try ConnectionOptions(arguments),
            log: try LogOptions(arguments))
    }

    static func run(_ options: RunOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(options.log)
        let settings = try options.fetch.checkedSettings()
        let input = try RunInput(options.input)
        let folder = try WorkFolder.open(options.directory, names: options.names)
        let lock = try WorkFolder.lock(folder, .alone)
        defer { withExtendedLifetime(lock) {} }
        let swept = lock.sweep()
        if swept > 0 { console.detail("removed \(Amounts.count(swept, "file")) that an earlier run left half-written") }
        let identity = RunIdentity(options.input, folder: try WorkFolder.identity(of: lock))
        let endpoint = try options.listen.map { address throws(CommandFailure) in try WorkerEndpoint(address, console: console) }
        defer { endpoint?.stop() }
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(options.connection, console: console, unless: interruption)
            options.fetch.sayWhatProxyMeans(console)
            let run = Run(options, settings, identity, access, folder, interruption, endpoint, console)
            let status = try await run.run(input)
            await access.close()
            return status
        }
    }
}

/// The arguments of `gannet run`.
struct RunOptions: Sendable {
    var input: InputOptions
    /// Where bodies go.
    var directory: String
    var names: NameStyle
    var batch: String
    var submission: BatchOptions
    var maxFailures: FailureLimit
    var json: Bool
    /// How long jobs in flight may go on once a stop has been asked for.
    var drainTimeout: Duration
    /// Where it answers questions about its health, if anywhere.
    var listen: ListenAddress?
    var fetch: FetchOptions
    var connection: ConnectionOptions
    var log: LogOptions

    /// How young the files that are there already must be.
    var demand: RecordedFolder.Demand {
        submission.refresh ? .fresh : submission.maximumAge.map { .younger(than: $0) } ?? .any
    }
}
