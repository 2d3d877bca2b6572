import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet get URL`: the body of a URL that was fetched.
enum GetCommand: Command {
    private static let output = Flag("output", short: "o", .file(), "The file that receives the body instead of standard output.")
    private static let fetch = Toggle("fetch", "Fetch the URL when its body is not kept. Other callers in the cluster share the fetch.")
    private static let meta = Toggle("meta", "Print the outcome of the URL as one JSON object, instead of the body.")
    private static let maxAge = Flag(
        "max-age", .duration(in: .zero...(.seconds(365 * 86_400))),
        "With '--fetch': how old the kept body may be, whatever its origin says."
    )
    private static let refresh = Toggle("refresh", "With '--fetch': ask the origin, whatever is kept.")

    static let spec = CommandSpec(
        "get",
        summary: "Print the body of a URL that was fetched, or fetch it.",
        positional: Positional("url", isSingle: true, "The URL."),
        flags: [output.entry, fetch.entry, meta.entry, maxAge.entry, refresh.entry, HeaderOption.header.entry] + StoreOptions.flags
            + FetchOptions.flags
            + ConnectionOptions.flags + CommonFlags.everywhere
    )

    static func options(from arguments: Arguments) throws(UsageError) -> GetOptions {
        let options = GetOptions(
            url: arguments.single, headers: try HeaderOption.headers(from: arguments), output: try arguments.optional(output),
            fetches: arguments.isSet(fetch),
            showsMeta: arguments.isSet(meta),
            maximumAge: try arguments.optional(maxAge), refresh: arguments.isSet(refresh), store: try StoreOptions(arguments),
            fetch: try FetchOptions(arguments), connection: try ConnectionOptions(arguments), log: try LogOptions(arguments))
        if options.fetches, options.showsMeta { throw arguments.usageError("'--meta' shows what is known; it does not fetch.") }
        if !options.fetches, options.refresh || options.maximumAge != nil {
            throw arguments.usageError("'--refresh' and '--max-age' need '--fetch'.")
        }
        return options
    }

    static func run(_ options: GetOptions) async throws(CommandFailure) -> ExitStatus {
        let console = Console(options.log)
        let settings = try options.fetch.checkedSettings()
        let interruption = try Interruption()
        return try await interruption.watching { () throws(CommandFailure) in
            let access = try await ClusterAccess.open(options.connection, console: console, patience: .zero, unless: interruption)
            let getting = Getting(options, settings, access.cluster, console)
            let outcome = await interruption.cancelling { try await getting.run() }
            await access.close()
            return try outcome.get(unlessInterrupted: interruption) ?? interruption.status
        }
    }
}

/// The arguments of `gannet get`.
struct GetOptions: Sendable {
    var url: String
    var headers: RequestHeaders
    var output: String?
    var fetches: Bool
    var showsMeta: Bool
    var maximumAge: Duration?
    var refresh: Bool
    var store: StoreOptions
    var fetch: FetchOptions
    var connection: ConnectionOptions
    var log: LogOptions
}
