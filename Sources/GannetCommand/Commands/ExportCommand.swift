import CommandLineKit
import Gannet

/// `gannet export`: the bodies of what was enqueued together, in a folder.
enum ExportCommand: Command {
    private static let batch = Flag(
        "batch", .batchName, isRequired: true, "The batch, by the name that 'enqueue' printed and 'batch list' shows.")
    private static let directory = Flag(
        "dir", short: "d", .folder(), isRequired: true,
        "The folder that receives the bodies and 'manifest.jsonl'. It is made when it is missing.")
    private static let refetch = Toggle(
        "refetch", "Fetch the URLs whose bodies are not kept any more. Other callers in the cluster share the fetches.")
    private static let json = Toggle("json", "Print a JSON object for each URL of the batch, and one with the totals.")

    static let spec = CommandSpec(
        "export",
        summary: "Write the bodies of a batch into a folder, with a manifest.",
        discussion:
            "Bodies come from Redis, or from the workers' folder that '--store' names. A file that is there already, byte for byte, is not "
            + "written again. The manifest has a line like that of 'run' for each URL whose job has ended. The lines are in the order in which "
            + "the jobs ended: 'finished' is the place in that order, and 'line' is null. The exit status is 0 when every body is there, 1 when "
            + "some are missing, and 75 when the batch is not complete yet. The bodies that are there are written in any case.",
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

/// The arguments of `gannet export`.
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
