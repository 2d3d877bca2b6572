import CommandLineKit
import Gannet

/// `gannet export`: the bodies of what was enqueued together, in a folder.
enum ExportCommand: Command {
    private static let batch = Flag(
        "batch", .batchName, isRequired: true, "The batch, as 'enqueue' named it and 'batch list' shows it.")
    private static let directory = Flag(
        "dir", short: "d", .folder(), isRequired: true, "The folder that receives the bodies and 'manifest.jsonl'; made when missing.")
    private static let refetch = Toggle(
        "refetch", "Fetch the URLs whose bodies are not kept any more once again, as one caller of the whole cluster.")
    private static let json = Toggle("json", "Print a JSON object for each URL of the batch, and one with the totals.")

    static let spec = CommandSpec(
        "export",
        summary: "Write the bodies of a batch into a folder, with a manifest.",
        discussion:
            "Bodies come out of Redis, or out of the workers' folder, which '--store' names. What is in the folder already, byte for byte, is "
            + "not written again. The manifest has the lines of that of 'run', one for each URL of which a job has ended, in the order in which "
            + "they ended: 'finished' is the place in that order, and 'line' is null. The exit status is 0 when every body is there, 1 when some "
            + "are not, 75 when the batch is not complete yet; then what there is of it is written.",
        flags: [batch.entry, directory.entry, NameOption.style.entry, refetch.entry, json.entry] + StoreOptions.flags + FetchOptions.flags
            + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> ExportOptions {
        ExportOptions(
            batch: try arguments.require(batch), directory: try arguments.require(directory), names: try NameOption.style(arguments),
            refetches: arguments.isSet(refetch), json: arguments.isSet(json), store: try StoreOptions(arguments),
            fetch: try FetchOptions(arguments), target: try QueueTarget(arguments))
    }

    static func run(_ options: ExportOptions) async throws(CommandFailure) -> ExitStatus {
        let console = options.target.console
        let settings = try options.fetch.checkedSettings()
        let store = try options.store.folder.map { path throws(CommandFailure) in try WorkFolder.reading(path) }
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(options.target.connection, console: console, unless: interruption)
            let exporting = Exporting(options, settings, store, access, interruption, console)
            do throws(CommandFailure) {
                let status = try await exporting.course()
                await access.close()
                return status
            } catch {
                await access.close()
                throw error
            }
        }
    }
}

/// What `gannet export` was asked to do.
struct ExportOptions: Sendable {
    var batch: String
    /// Where bodies go.
    var directory: String
    var names: NameStyle
    var refetches: Bool
    var json: Bool
    var store: StoreOptions
    var fetch: FetchOptions
    var target: QueueTarget
}
